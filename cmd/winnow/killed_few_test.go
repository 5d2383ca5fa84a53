//go:build !faults

package main

// reviewKills is how often TestReviewKilled kills its server.
const reviewKills = 3
