"""The one scheduler: what is due once a day, also after sleep, downtime and changes of the clock."""
