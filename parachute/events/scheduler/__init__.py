"""The one scheduler: jobs by a timetable, also after sleep, downtime and changes of the clock."""
