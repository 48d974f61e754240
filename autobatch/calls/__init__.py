"""The ways to call a program: once, with pauses, for any number of members, on several devices, or as an export."""
