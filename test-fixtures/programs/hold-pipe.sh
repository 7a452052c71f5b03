#!/bin/sh
# Ends at once, and leaves a process in a session of its own that keeps stdout and stderr open.
setsid sleep 60 &
echo left
