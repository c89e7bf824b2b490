"""The doctor: a pure look at one prompt that names what is wrong with it, and the mend."""
