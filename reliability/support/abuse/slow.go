package main

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	dripEvery = 2 * time.Second
	// After the hub has said that it is done: how often the client looks whether it really let go.
	probeEvery  = 200 * time.Millisecond
	pauseBefore = 100 * time.Millisecond
	// So many addresses that 2,000 connections stay below the limits of one.
	slowSources = 50
)

// Kind is one way to be slow. It opens with some bytes, then sends one more every two seconds for as long as it can, also
// after the hub has closed its side: what counts is when the hub lets go of the connection.
type Kind struct {
	name    string
	port    string
	opening string
	drip    string
	// Past the TLS handshake, with an identity of the CA.
	isKnown bool
	// Out of how many connections of its port, in tenths.
	tenths int
}

const (
	endlessHeader = "GET /v1/manifest HTTP/1.1\r\nHost: hub\r\nX-Slow: "
	endlessBody   = "POST /v1/enroll HTTP/1.1\r\nHost: hub\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
	endlessEvent  = "POST /v1/events HTTP/1.1\r\nHost: hub\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
	// The header of a TLS record of 512 bytes, and of the ClientHello in it.
	endlessHello = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
)

var kinds = []Kind{
	{"silent", "health", "", "", false, 5},
	{"headers", "health", endlessHeader, "a", false, 5},
	{"silent", "enroll", "", "", false, 3},
	{"headers", "enroll", endlessHeader, "a", false, 3},
	{"body", "enroll", endlessBody, " ", false, 4},
	{"silent", "mtls", "", "", false, 4},
	{"hello", "mtls", endlessHello, "a", false, 4},
	{"headers", "mtls", endlessHeader, "a", true, 1},
	{"body", "mtls", endlessEvent, " ", true, 1},
}

// SlowOutcome is what came of one kind on one port.
type SlowOutcome struct {
	Port string `json:"port"`
	Kind string `json:"kind"`
	// How many were opened, how many of them the hub ended, and how many could not be opened.
	Opened int64 `json:"opened"`
	Ended  int64 `json:"ended"`
	Failed int64 `json:"failed"`
	// How many were open at once, on average once all had been opened.
	OpenMean float64 `json:"open_mean"`
	// From the connection to when the hub had let go of it, or to the end of the attack.
	LongestSeconds float64 `json:"longest_seconds"`
}

type slowCount struct {
	opened, ended, failed, open atomic.Int64
	longest                     atomic.Int64
	samples                     []int64
}

func startSlow(attack Attack, config *tls.Config, stop <-chan struct{}) (wait func() []SlowOutcome) {
	var group sync.WaitGroup
	counts := make([]*slowCount, len(kinds))
	ramp := time.Duration(attack.RampSeconds * float64(time.Second))
	for index, kind := range kinds {
		count := &slowCount{}
		counts[index] = count
		total := attack.SlowConnections * kind.tenths / 10
		for number := 0; number < total; number++ {
			group.Add(1)
			go func(kind Kind, number int) {
				defer group.Done()
				if !sleepUnless(stop, ramp*time.Duration(number)/time.Duration(total)) {
					return
				}
				source := sourceOf(1, number%slowSources)
				for sleepUnless(stop, 0) {
					beSlow(kind, attack.Ports[kind.port], source, config, count, stop)
					sleepUnless(stop, pauseBefore)
				}
			}(kind, number)
		}
	}
	group.Add(1)
	go func() {
		defer group.Done()
		if !sleepUnless(stop, ramp) {
			return
		}
		for sleepUnless(stop, pauseBefore) {
			for _, count := range counts {
				count.samples = append(count.samples, count.open.Load())
			}
		}
	}()
	return func() []SlowOutcome {
		group.Wait()
		outcomes := make([]SlowOutcome, len(kinds))
		for index, kind := range kinds {
			outcomes[index] = counts[index].outcomeOf(kind)
		}
		return outcomes
	}
}

func (count *slowCount) outcomeOf(kind Kind) SlowOutcome {
	var sum int64
	for _, sample := range count.samples {
		sum += sample
	}
	return SlowOutcome{
		Port: kind.port, Kind: kind.name,
		Opened: count.opened.Load(), Ended: count.ended.Load(), Failed: count.failed.Load(),
		OpenMean:       float64(sum) / float64(max(1, len(count.samples))),
		LongestSeconds: time.Duration(count.longest.Load()).Seconds(),
	}
}

func beSlow(kind Kind, address string, source net.IP, config *tls.Config, count *slowCount, stop <-chan struct{}) {
	raw, err := dialerFrom(source, requestTimeout).Dial("tcp", address)
	if err != nil {
		count.failed.Add(1)
		return
	}
	// Nothing of it stays behind in the system.
	_ = raw.(*net.TCPConn).SetLinger(0)
	defer raw.Close()
	started, connection := time.Now(), raw
	if kind.isKnown {
		secure := tls.Client(raw, config)
		_ = secure.SetDeadline(started.Add(requestTimeout))
		if secure.Handshake() != nil {
			count.failed.Add(1)
			return
		}
		started, connection = time.Now(), secure
	}
	count.opened.Add(1)
	count.open.Add(1)
	defer count.open.Add(-1)
	if drip(kind, connection, stop) {
		count.ended.Add(1)
	}
	held := int64(time.Since(started))
	for known := count.longest.Load(); held > known; known = count.longest.Load() {
		count.longest.CompareAndSwap(known, held)
	}
}

// Whether the hub ended it.
func drip(kind Kind, connection net.Conn, stop <-chan struct{}) bool {
	_ = connection.SetDeadline(time.Time{})
	_, err := io.WriteString(connection, kind.opening)
	for dripAt := time.Now().Add(dripEvery); err == nil; {
		if !sleepUnless(stop, 0) {
			return false
		}
		// Short waits, so that a stop is seen; what comes is an answer that nobody wants.
		_ = connection.SetReadDeadline(time.Now().Add(dripEvery / 4))
		_, readErr := connection.Read(make([]byte, 4096))
		if readErr != nil && !errors.Is(readErr, os.ErrDeadlineExceeded) {
			return awaitReset(connection, stop)
		}
		if time.Now().After(dripAt) {
			dripAt = dripAt.Add(dripEvery)
			_, err = io.WriteString(connection, kind.drip)
		}
	}
	return true
}

// The hub's side is closed when the system refuses what is still sent to it.
func awaitReset(connection net.Conn, stop <-chan struct{}) bool {
	for sleepUnless(stop, probeEvery) {
		if _, err := connection.Write([]byte("a")); err != nil {
			return true
		}
	}
	return false
}
