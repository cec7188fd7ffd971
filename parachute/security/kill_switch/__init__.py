"""The kill switch: `parachute panic` stops all agents, and nothing starts until `parachute resume`."""
