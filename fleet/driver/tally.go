package main

import (
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Tally counts what happened since the last sample, and what is held now.
type Tally struct {
	mutex    sync.Mutex
	latency  map[string]Histogram
	failures map[string]int64

	streams     atomic.Int64
	connections atomic.Int64
	// Of a storm: who has been served, and who could not use its one token.
	served        atomic.Int64
	servedLastNs  atomic.Int64
	lostTokens    atomic.Int64
	enrolledTotal atomic.Int64
	renewedTotal  atomic.Int64
	delivered     atomic.Int64
	broken        atomic.Int64
}

// Sample is one line of what `sample` answers.
type Sample struct {
	Latencies  map[string][][2]int64 `json:"latencies"`
	Failures   map[string]int64      `json:"failures"`
	Streams    int64                 `json:"streams"`
	Open       int64                 `json:"connections"`
	Served     int64                 `json:"served"`
	ServedLast float64               `json:"served_last_seconds"`
	LostTokens int64                 `json:"lost_tokens"`
	Enrolled   int64                 `json:"enrolled"`
	Renewed    int64                 `json:"renewed"`
	Delivered  int64                 `json:"delivered"`
	Broken     int64                 `json:"broken"`
	CaAtOnce   int64                 `json:"ca_at_once"`
	CaCalls    int64                 `json:"ca_calls"`
	CpuSeconds float64               `json:"cpu_seconds"`
}

func newTally() *Tally {
	return &Tally{latency: map[string]Histogram{}, failures: map[string]int64{}}
}

// Took notes one operation that succeeded.
func (t *Tally) took(operation string, since time.Time) {
	microseconds := float64(time.Since(since).Nanoseconds()) / 1000
	t.mutex.Lock()
	defer t.mutex.Unlock()
	histogram := t.latency[operation]
	if histogram == nil {
		histogram = Histogram{}
		t.latency[operation] = histogram
	}
	histogram.add(microseconds)
}

func (t *Tally) failed(operation, kind string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.failures[operation+": "+kind]++
}

// Take answers what was counted since the last time.
func (t *Tally) take(gate *Gate) Sample {
	t.mutex.Lock()
	latency, failures := t.latency, t.failures
	t.latency, t.failures = map[string]Histogram{}, map[string]int64{}
	t.mutex.Unlock()
	sample := Sample{
		Latencies:  map[string][][2]int64{},
		Failures:   failures,
		Streams:    t.streams.Load(),
		Open:       t.connections.Load(),
		Served:     t.served.Load(),
		ServedLast: time.Duration(t.servedLastNs.Load()).Seconds(),
		LostTokens: t.lostTokens.Load(),
		Enrolled:   t.enrolledTotal.Load(),
		Renewed:    t.renewedTotal.Load(),
		Delivered:  t.delivered.Load(),
		Broken:     t.broken.Load(),
		CpuSeconds: cpuSeconds(),
	}
	for operation, histogram := range latency {
		sample.Latencies[operation] = histogram.pairs()
	}
	if gate != nil {
		sample.CaAtOnce, sample.CaCalls = gate.takeAtOnceMax(), gate.calls.Load()
	}
	return sample
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}
