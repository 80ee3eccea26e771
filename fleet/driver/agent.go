package main

import (
	"encoding/json"
	"errors"
	"net"
	"sync"
	"time"
)

// Agent does on the wire what svc-agent does: docs/protocol.md AGT, PSH-14.
type Agent struct {
	number   int
	hostname string
	// The host's own.
	address net.IP
	token   string
	// Key, request and Idempotency-Key of an enrolment, kept until it has succeeded.
	pending *PendingEnrolment

	holdsStream bool

	process  sync.Mutex
	mutex    sync.Mutex
	identity *Identity
	held     []*Connection
	kept     *Connection

	outbox     []Event
	etag       string
	reported   *int
	reportedAt time.Time
	renewal    Retry
	wake       chan struct{}
	storm      Served
}

// Served is what an agent has of what a storm took from it.
type Served struct {
	hasManifest, hasStream, hasRenewed, isDone bool
}

// Retry is when something may be tried again.
type Retry struct {
	failures  int
	notBefore time.Time
}

// Round is how much of a round is still worth trying: src/agent/hub/budget.ts.
type Round struct {
	unanswered  int
	isClosed    bool
	hasManifest bool
	retryAfter  time.Duration
}

const (
	unansweredMax   = 3
	reportInterval  = time.Hour
	attemptInterval = time.Minute
	wakeInterval    = time.Second
)

func newAgent(number int, identity *Identity) *Agent {
	return &Agent{
		number:   number,
		hostname: hostnameOf(number),
		address:  net.IPv4(127, 64+byte(number>>16), byte(number>>8), byte(number)),
		identity: identity,
		wake:     make(chan struct{}, 1),
	}
}

func (a *Agent) run(f *Fleet, stop <-chan struct{}, delay time.Duration) {
	if !wait(stop, delay, nil) || (a.current() == nil && !a.enrol(f, stop)) {
		return
	}
	a.queueStart()
	if a.holdsStream {
		go a.followStream(f, stop)
	}
	for failures := 0; ; {
		round := a.round(f, stop)
		next := spread(time.Duration(f.interval.Load()))
		if round.hasManifest {
			failures = 0
		} else {
			failures++
			next = backoff(failures)
		}
		// A renewal that failed is awaited, and no sooner than a second from now.
		if a.renewal.failures > 0 && !round.isClosed && round.hasManifest {
			next = min(next, max(time.Second, time.Until(a.renewal.notBefore)))
		}
		if !wait(stop, max(next, round.retryAfter), a.wake) {
			return
		}
	}
}

func (a *Agent) round(f *Fleet, stop <-chan struct{}) *Round {
	round := &Round{}
	if f.renews.Load() && a.current().isDue(time.Now()) && !time.Now().Before(a.renewal.notBefore) {
		a.renew(f, stop, round)
	}
	a.flush(f, stop, round)
	if round.isOpen() {
		a.pullManifest(f, stop, round)
	}
	a.flush(f, stop, round)
	a.noteServed(f)
	return round
}

func (r *Round) isOpen() bool { return !r.isClosed && r.unanswered < unansweredMax }

func (r *Round) note(err error) {
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		r.unanswered++
		return
	}
	r.unanswered = 0
	r.retryAfter = max(r.retryAfter, refusal.retryAfter)
	if refusal.status == 401 || refusal.status == 429 || refusal.retryAfter > 0 {
		r.isClosed = true
	}
}

func (a *Agent) pullManifest(f *Fleet, stop <-chan struct{}, round *Round) {
	more := ""
	if a.etag != "" {
		more = "If-None-Match: " + a.etag + "\r\n"
	}
	reply, err := a.ask(f, stop, "poll", getRequest("/v1/manifest", more))
	if err != nil {
		round.note(err)
		return
	}
	round.unanswered, round.hasManifest = 0, true
	if reply.status == 200 {
		var manifest struct {
			Entregas []Entrega `json:"entregas"`
		}
		if err := json.Unmarshal(reply.body, &manifest); err != nil {
			f.tally.failed("poll", "not a manifest")
			return
		}
		a.etag = reply.etag
		a.report(len(manifest.Entregas))
		if f.broken.Load() != nil {
			a.deliver(f, stop, round, manifest.Entregas)
		}
	} else if a.reported != nil {
		a.report(*a.reported)
	}
	a.mutex.Lock()
	a.storm.hasManifest = true
	a.mutex.Unlock()
}

// As src/agent/round/manifest-report.ts.
func (a *Agent) report(count int) {
	if a.reported != nil && *a.reported == count && time.Since(a.reportedAt) < reportInterval {
		return
	}
	a.reported, a.reportedAt = &count, time.Now()
	a.queue("manifest_pulled", map[string]any{"count": count})
}

// One request on the kept connection, or on a new one.
func (a *Agent) ask(f *Fleet, stop <-chan struct{}, operation string, request []byte) (*Reply, error) {
	for {
		connection, isNew, err := a.connect(f, stop)
		if err != nil {
			f.note(stop, "handshake", err)
			return nil, err
		}
		started := time.Now()
		reply, err := connection.ask(request)
		if err != nil {
			a.drop(connection)
			// The hub closes a connection that waited too long: the agent sees that before it asks.
			if !isNew && kindOf(err) == "cut" && time.Since(started) < time.Second && !isOver(stop) {
				continue
			}
			f.note(stop, operation, err)
			return nil, err
		}
		if reply.isLast {
			a.drop(connection)
		}
		if reply.status != 200 && reply.status != 304 {
			refusal := refusalOf(reply)
			f.note(stop, operation, refusal)
			return nil, refusal
		}
		f.tally.took(operation, started)
		return reply, nil
	}
}

func refusalOf(reply *Reply) *Refusal {
	var body struct {
		Error string `json:"error"`
	}
	// Whatever stands between may answer anything.
	if json.Unmarshal(reply.body, &body) != nil || body.Error == "" {
		body.Error = "unknown"
	}
	return &Refusal{reply.status, body.Error, reply.retryAfter}
}

func (a *Agent) connect(f *Fleet, stop <-chan struct{}) (connection *Connection, isNew bool, err error) {
	a.mutex.Lock()
	connection, identity := a.kept, a.identity
	a.mutex.Unlock()
	if connection != nil {
		return connection, false, nil
	}
	started := time.Now()
	connection, err = dial("tcp", f.setup.MtlsAddress, a.address, identity.config, &f.tally.connections)
	if err != nil {
		return nil, true, err
	}
	f.tally.took("handshake", started)
	if !a.hold(connection, stop) {
		return nil, true, net.ErrClosed
	}
	a.mutex.Lock()
	a.kept = connection
	a.mutex.Unlock()
	return connection, true, nil
}

// Remembers it, so that it ends when the agent does.
func (a *Agent) hold(connection *Connection, stop <-chan struct{}) bool {
	a.mutex.Lock()
	a.held = append(a.held, connection)
	a.mutex.Unlock()
	if !isOver(stop) {
		return true
	}
	a.drop(connection)
	return false
}

func (a *Agent) drop(connection *Connection) {
	connection.close()
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.kept == connection {
		a.kept = nil
	}
	for index, held := range a.held {
		if held == connection {
			a.held = append(a.held[:index], a.held[index+1:]...)
			return
		}
	}
}

// All at once, as when the process ends.
func (a *Agent) cut() {
	a.mutex.Lock()
	held := a.held
	a.held, a.kept = nil, nil
	a.mutex.Unlock()
	for _, connection := range held {
		connection.close()
	}
}

// Begins a round now.
func (a *Agent) wakeUp() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *Agent) current() *Identity {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.identity
}

func isOver(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}
