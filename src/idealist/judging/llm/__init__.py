"""Models as judges: what they are asked, how, and how their answers are read."""
