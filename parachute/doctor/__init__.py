"""What is wrong with this computer, found without changing anything, and mended where that is safe."""
