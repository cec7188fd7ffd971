"""Health for apps, status for people, panic and resume, `/supervisor/*`."""
