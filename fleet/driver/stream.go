package main

import (
	"bufio"
	"errors"
	"io"
	"net/http/httputil"
	"strings"
	"sync/atomic"
	"time"
)

const (
	streamSilence = time.Minute
	streamSteady  = time.Minute
)

// As src/agent/stream/follow-hub.ts: holds the stream for as long as the agent runs.
func (a *Agent) followStream(f *Fleet, stop <-chan struct{}) {
	failures, lastID := 0, ""
	wakes := &PacedWake{agent: a}
	for {
		identity := a.current()
		upFor, err := a.holdStream(f, stop, identity, &lastID, wakes)
		if isOver(stop) {
			return
		}
		delay := time.Duration(0)
		select {
		case <-identity.replaced:
			failures = 0
		default:
			f.note(stop, "stream", err)
			if upFor >= streamSteady {
				failures = 0
			}
			failures++
			delay = backoff(failures)
			var refusal *Refusal
			if errors.As(err, &refusal) {
				delay = max(delay, refusal.retryAfter)
			}
		}
		if !wait(stop, delay, identity.replaced) {
			return
		}
	}
}

// Until it ends, which is always an error.
func (a *Agent) holdStream(f *Fleet, stop <-chan struct{}, identity *Identity, lastID *string, wakes *PacedWake) (time.Duration, error) {
	started := time.Now()
	connection, err := dial("tcp", f.setup.MtlsAddress, a.address, identity.config, &f.tally.connections)
	if err != nil {
		return 0, err
	}
	f.tally.took("handshake", started)
	if !a.hold(connection, stop) {
		return 0, errors.New("over")
	}
	defer a.drop(connection)
	more := ""
	if *lastID != "" {
		more = "Last-Event-ID: " + *lastID + "\r\n"
	}
	request := strings.Replace(string(getRequest("/v1/stream", more)), "application/json", "text/event-stream", 1)
	connection.raw.SetDeadline(time.Now().Add(requestTimeout))
	if _, err := connection.stream.Write([]byte(request)); err != nil {
		return 0, err
	}
	reply, _, length, err := connection.readHead()
	if err != nil {
		return 0, err
	}
	if reply.status != 200 {
		reply.body = make([]byte, min(length, bodyBytesMax))
		io.ReadFull(connection.reader, reply.body)
		return 0, refusalOf(reply)
	}
	f.tally.took("stream", started)
	f.tally.streams.Add(1)
	defer f.tally.streams.Add(-1)
	a.mutex.Lock()
	a.storm.hasStream = true
	a.mutex.Unlock()
	a.noteServed(f)
	// A new identity ends the stream of the old one.
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-identity.replaced:
			connection.close()
		case <-ended:
		}
	}()
	up := time.Now()
	err = readMessages(connection, func(kind, id string) {
		if id != "" {
			*lastID = id
		}
		if kind == "manifest" {
			wakes.wake()
		}
	})
	return time.Since(up), err
}

func readMessages(connection *Connection, onMessage func(kind, id string)) error {
	lines := bufio.NewReaderSize(httputil.NewChunkedReader(connection.reader), 256)
	kind, id := "", ""
	for {
		connection.raw.SetDeadline(time.Now().Add(streamSilence))
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return errors.New("the hub ended it")
		}
		if err != nil {
			return err
		}
		line = strings.TrimRight(line, "\r\n")
		switch name, value, _ := strings.Cut(line, ":"); {
		case line == "":
			if kind != "" {
				onMessage(kind, id)
			}
			kind, id = "", ""
		case name == "event":
			kind = strings.TrimPrefix(value, " ")
		case name == "id":
			id = strings.TrimPrefix(value, " ")
		}
	}
}

// PacedWake begins a round, once a second at most: PSH-15.
type PacedWake struct {
	agent     *Agent
	last      time.Time
	isWaiting atomic.Bool
}

func (p *PacedWake) wake() {
	if !p.isWaiting.CompareAndSwap(false, true) {
		return
	}
	delay := max(0, wakeInterval-time.Since(p.last))
	p.last = time.Now().Add(delay)
	time.AfterFunc(delay, func() {
		p.isWaiting.Store(false)
		p.agent.wakeUp()
	})
}
