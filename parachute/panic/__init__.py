"""The emergency brake: `parachute panic` stops all agents at once, and nothing starts one until `parachute resume`."""
