package main

import "math"

// Histogram counts how long operations took, in buckets that are 5 % wide; fleet/latencies.ts reads them.
type Histogram map[int]int64

const bucketWidth = 1.05

func (h Histogram) add(microseconds float64) {
	h[int(math.Floor(math.Log(math.Max(1, microseconds))/math.Log(bucketWidth)))]++
}

func (h Histogram) pairs() [][2]int64 {
	pairs := make([][2]int64, 0, len(h))
	for bucket, count := range h {
		pairs = append(pairs, [2]int64{int64(bucket), count})
	}
	return pairs
}
