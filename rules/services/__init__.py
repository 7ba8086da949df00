"""What changes rules and records: learning, publishing, running, exporting."""
