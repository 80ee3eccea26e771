package main

import (
	"math"
	"math/rand"
	"time"
)

// As src/agent/hub/backoff.ts: seconds, doubling to five minutes, between half and all of that.
func backoff(failures int) time.Duration {
	full := math.Min(300, math.Pow(2, math.Min(float64(failures-1), 20)))
	return time.Duration(full * (0.5 + rand.Float64()/2) * float64(time.Second))
}

// As src/agent/round/run-loop.ts: spread by a tenth.
func spread(interval time.Duration) time.Duration {
	return time.Duration(float64(interval) * (0.9 + rand.Float64()*0.2))
}

// Waits until the time is over, something wakes it, or all agents stop: then false.
func wait(stop <-chan struct{}, duration time.Duration, wake <-chan struct{}) bool {
	if duration <= 0 {
		select {
		case <-stop:
			return false
		default:
			return true
		}
	}
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-stop:
		return false
	case <-timer.C:
	case <-wake:
	}
	return true
}
