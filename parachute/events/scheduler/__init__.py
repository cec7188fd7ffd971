"""The one scheduler: jobs once a day, also after sleep, downtime and changes of the clock."""
