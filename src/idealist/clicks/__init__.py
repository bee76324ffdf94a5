"""From clicks to grades: logs tallied in one pass, click models, grades with intervals."""
