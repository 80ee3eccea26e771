package main

import (
	"crypto/x509"
	"math/rand"
	"net/url"
	"os"
	"sync/atomic"
	"time"
)

const fleetRole = "fleet"

// Setup says where the hub and its CA are.
type Setup struct {
	EnrollAddress string  `json:"enroll_address"`
	MtlsAddress   string  `json:"mtls_address"`
	AdminSocket   string  `json:"admin_socket"`
	PollSeconds   float64 `json:"poll_seconds"`
}

// Fleet is all agents of this process, and what they have done.
type Fleet struct {
	setup  Setup
	roots  *x509.CertPool
	signer *Signer
	gate   *Gate
	tally  *Tally

	agents    []*Agent
	firstHost int
	stop      chan struct{}
	interval  atomic.Int64
	// Whether agents renew what is due: held back until a storm begins.
	renews atomic.Bool
	storm  atomic.Pointer[Storm]
	// Agents deliver once it says on which hosts that fails.
	broken atomic.Pointer[Broken]
}

// Storm says since when, and what an agent must have to be served.
type Storm struct {
	began                time.Time
	needsStream, renewal bool
}

func (f *Fleet) openCa(caURL, rootPath, directory string) error {
	rootPEM, err := os.ReadFile(rootPath)
	if err != nil {
		return err
	}
	f.roots = x509.NewCertPool()
	f.roots.AppendCertsFromPEM(rootPEM)
	if f.signer, err = newSigner(directory); err != nil {
		return err
	}
	target, err := url.Parse(caURL)
	if err != nil {
		return err
	}
	f.gate, err = openGate(target, f.signer, f.roots)
	return err
}

// Starts all of them, each at its own time within the ramp; the first `streams` of them hold their stream.
func (f *Fleet) start(streams int, ramp time.Duration) {
	f.stop = make(chan struct{})
	f.beginStorm(&Storm{began: time.Now(), needsStream: true})
	f.interval.Store(int64(f.setup.PollSeconds * float64(time.Second)))
	for index, agent := range f.agents {
		agent.holdsStream = index < streams
		go agent.runFrom(f, f.stop, time.Duration(rand.Float64()*float64(ramp)))
	}
}

// From now on each agent polls for several that are enrolled and do not run.
func (f *Fleet) standIn(enrolled int) {
	interval := f.interval.Load() * int64(len(f.agents)) / int64(enrolled)
	f.interval.Store(interval)
	for _, agent := range f.agents {
		time.AfterFunc(time.Duration(rand.Int63n(interval)), agent.wakeUp)
	}
}

// All processes end at once, and start again at once; with them start hosts that are new, with a stream if it fits.
func (f *Fleet) restart(streams int) {
	old := f.stop
	f.stop = make(chan struct{})
	close(old)
	for _, agent := range f.agents {
		agent.cut()
	}
	f.beginStorm(&Storm{began: time.Now(), needsStream: true})
	for index, agent := range f.agents {
		agent.holdsStream = index < streams
		go agent.runFrom(f, f.stop, 0)
	}
}

// A new process, which knows what is on disk: identity and outbox. There is one process a host.
func (a *Agent) runFrom(f *Fleet, stop <-chan struct{}, delay time.Duration) {
	a.process.Lock()
	defer a.process.Unlock()
	a.etag, a.reported, a.renewal = "", nil, Retry{}
	a.mutex.Lock()
	a.storm = Served{}
	a.mutex.Unlock()
	a.run(f, stop, delay)
}

func (f *Fleet) beginStorm(storm *Storm) {
	f.storm.Store(nil)
	for _, agent := range f.agents {
		agent.mutex.Lock()
		agent.storm = Served{}
		agent.mutex.Unlock()
	}
	f.tally.served.Store(0)
	f.tally.servedLastNs.Store(0)
	f.storm.Store(storm)
}

// The first time that an agent has all that it needs.
func (a *Agent) noteServed(f *Fleet) {
	storm := f.storm.Load()
	if storm == nil {
		return
	}
	a.mutex.Lock()
	has := a.storm
	isServed := !has.isDone && has.hasManifest &&
		(has.hasStream || !storm.needsStream || !a.holdsStream) && (has.hasRenewed || !storm.renewal)
	if isServed {
		a.storm.isDone = true
	}
	a.mutex.Unlock()
	if isServed {
		f.tally.served.Add(1)
		f.tally.servedLastNs.Store(time.Since(storm.began).Nanoseconds())
	}
}

// What fails because all agents end now is no failure.
func (f *Fleet) note(stop <-chan struct{}, operation string, err error) {
	if !isOver(stop) {
		f.tally.failed(operation, kindOf(err))
	}
}
