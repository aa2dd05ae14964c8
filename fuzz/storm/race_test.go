//go:build race

package main

// raceDetector makes the tests run fewer worlds: under it they take ten times
// longer, and the machines have no goroutines in which it could find anything.
const raceDetector = true
