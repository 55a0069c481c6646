"""The configuration of the endpoint picker, which chooses the server of each request, and its ways through versions."""
