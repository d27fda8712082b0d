"""Live spans: each turn and tool run to an OpenTelemetry collector while it is recorded."""
