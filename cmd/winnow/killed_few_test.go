//go:build !faults

package main

// reviewKills is the number of times that TestReviewKilled kills its server.
const reviewKills = 3
