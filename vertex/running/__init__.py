"""Running an installation: broker, worker logs, web server, supervision, health, metrics, logs, traces."""
