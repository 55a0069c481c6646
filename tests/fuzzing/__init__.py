"""What was found by fuzzing, and that the room itself does what it says."""
