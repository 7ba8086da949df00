"""Files: what people hand in, what is kept until its job is done, and the backup of all."""
