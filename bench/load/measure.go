package main

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"sort"
	"sync"
	"syscall"
	"time"
)

const (
	signPath       = "/1.0/sign"
	manifestPath   = "/v1/manifest"
	clientsDefault = 16
	blobAgents     = 100
	payloadBytes   = 512
)

// Measurement is what one workload achieved since it got ready.
type Measurement struct {
	Count   int     `json:"count"`
	Seconds float64 `json:"seconds"`
	P99Ms   float64 `json:"p99_ms"`
	MaxMs   float64 `json:"max_ms"`
}

// Step does one piece of work; errExhausted ends the measurement early.
type Step func() error

var errExhausted = errors.New("nothing prepared is left")

// Workload makes the step of each worker before the clock starts.
type Workload struct {
	// 0: as many as the command says.
	workers int
	// Each worker does it once before the clock starts, so that what only the first request of a connection costs is not measured.
	isRehearsed bool
	newStep     func(g *Generator, command Command, worker int) (Step, func(), error)
}

var workloads = map[string]Workload{
	"sign":      {0, true, newDirectSign},
	"enroll":    {0, true, newEnrol},
	"refused":   {0, true, newRefusedEnrol},
	"recover":   {0, true, newRecovery},
	"issue":     {0, true, newIssue},
	"handshake": {0, false, newHandshake},
	"kept":      {0, true, newKept},
	"blob":      {blobAgents, false, newBlob},
	"events":    {0, true, newEvent},
	"fdatasync": {1, true, newFdatasync},
}

// Worker does one step after the other and notes how long each took.
type Worker struct {
	step Step
	end  func()
	took []time.Duration
}

// Everything that the clock is not to see: connections are open, and their first requests answered.
func (g *Generator) getReady(command Command) error {
	g.letGo()
	workload, ok := workloads[command.Name]
	if !ok {
		return errors.New("no such workload")
	}
	count := workload.workers
	if count == 0 {
		count = command.Clients
	}
	if count == 0 {
		count = clientsDefault
	}
	for number := 0; number < count; number++ {
		step, end, err := workload.newStep(g, command, number)
		if err != nil {
			return err
		}
		g.workers = append(g.workers, &Worker{step: step, end: end})
	}
	if !workload.isRehearsed {
		return nil
	}
	return <-inParallel(count, func(worker int) error { return g.workers[worker].step() })
}

// Runs what is ready, once more if it ran already; its connections stay open until something else gets ready.
func (g *Generator) run(command Command) (*Measurement, error) {
	started := time.Now()
	deadline := started.Add(time.Duration(command.Seconds * float64(time.Second)))
	err := <-inParallel(len(g.workers), func(number int) error {
		worker := g.workers[number]
		interval := command.interval()
		for due := started.Add(interval * time.Duration(number) / time.Duration(len(g.workers))); due.Before(deadline); {
			time.Sleep(time.Until(due))
			if err := worker.step(); err == errExhausted {
				return nil
			} else if err != nil {
				return err
			}
			now := time.Now()
			worker.took = append(worker.took, now.Sub(due))
			if interval == 0 {
				due = now
			} else {
				due = due.Add(interval)
			}
		}
		return nil
	})
	g.ran += time.Since(started)
	var took []time.Duration
	for _, worker := range g.workers {
		took = append(took, worker.took...)
	}
	p99, most := percentile(took, 0.99), percentile(took, 1)
	return &Measurement{len(took), g.ran.Seconds(), p99.Seconds() * 1000, most.Seconds() * 1000}, err
}

// With one, a request that has to wait for the one before it counts from when it was due: so would that of another agent.
func (c Command) interval() time.Duration {
	if c.PerSecond == 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / c.PerSecond)
}

func (g *Generator) letGo() {
	for _, worker := range g.workers {
		worker.end()
	}
	g.workers, g.ran = nil, 0
}

func percentile(took []time.Duration, share float64) time.Duration {
	if len(took) == 0 {
		return 0
	}
	sort.Slice(took, func(a, b int) bool { return took[a] < took[b] })
	return took[int(float64(len(took)-1)*share)]
}

// Runs `count` workers and answers the first error, or nil, when all have ended.
func inParallel(count int, work func(worker int) error) <-chan error {
	done := make(chan error, 1)
	failures := make([]error, count)
	var group sync.WaitGroup
	for worker := range failures {
		group.Add(1)
		go func(worker int) {
			defer group.Done()
			failures[worker] = work(worker)
		}(worker)
	}
	go func() {
		group.Wait()
		done <- errors.Join(failures...)
	}()
	return done
}

func asking(connection *Connection, request []byte) (Step, func(), error) {
	step := func() error {
		_, err := connection.ask(request, 200)
		return err
	}
	return step, func() { connection.Close() }, nil
}

// Straight to the CA, as the hub would ask it.
func newDirectSign(g *Generator, _ Command, _ int) (Step, func(), error) {
	host, err := g.newHost()
	if err != nil {
		return nil, nil, err
	}
	connection, err := dialTLS(g.caURL.Host, &tls.Config{RootCAs: g.roots, ServerName: "localhost"})
	if err != nil {
		return nil, nil, err
	}
	step := func() error {
		token, err := g.provisioner.oneTimeToken(host, time.Now().Unix())
		if err != nil {
			return err
		}
		body, _ := json.Marshal(map[string]string{"csr": host.csrPEM, "ott": token})
		_, err = connection.ask(postRequest(signPath, body), 201)
		return err
	}
	return step, func() { connection.Close() }, nil
}

func newEnrol(g *Generator, _ Command, worker int) (Step, func(), error) {
	connection, err := dialPlain("tcp", g.setup.EnrollAddress)
	if err != nil {
		return nil, nil, err
	}
	step := func() error {
		enrolment, ok := g.takeEnrolment()
		if !ok {
			return errExhausted
		}
		_, err := connection.ask(enrolment.request, 200)
		return err
	}
	return step, func() { connection.Close() }, nil
}

// Each guesses a token that nobody made.
func newRefusedEnrol(g *Generator, _ Command, _ int) (Step, func(), error) {
	host, err := g.newHost()
	if err != nil {
		return nil, nil, err
	}
	connection, err := dialPlain("tcp", g.setup.EnrollAddress)
	if err != nil {
		return nil, nil, err
	}
	token := make([]byte, 32)
	step := func() error {
		if _, err := rand.Read(token); err != nil {
			return err
		}
		body, _ := json.Marshal(map[string]string{
			"token": base64url(token), "hostname": host.name, "role": role, "csr_pem": host.csrPEM,
		})
		_, err := connection.ask(postRequest("/v1/enroll", body), 401)
		return err
	}
	return step, func() { connection.Close() }, nil
}

// Each recovers its first identity again and again, with a proof of its own each time.
func newRecovery(g *Generator, _ Command, worker int) (Step, func(), error) {
	agent := g.agents[worker]
	connection, err := dialPlain("tcp", g.setup.EnrollAddress)
	if err != nil {
		return nil, nil, err
	}
	leaf := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: agent.tlsConfig.Certificates[0].Certificate[0]})
	step := func() error {
		proof, err := recoveryProof(g.key, agent.host, time.Now().Unix())
		if err != nil {
			return err
		}
		body, _ := json.Marshal(map[string]string{
			"cert_pem": string(leaf), "csr_pem": agent.host.csrPEM, "proof": proof,
		})
		_, err = connection.ask(postRequest("/v1/recover", body), 200)
		return err
	}
	return step, func() { connection.Close() }, nil
}

var taking sync.Mutex

func (g *Generator) takeEnrolment() (Enrolment, bool) {
	taking.Lock()
	defer taking.Unlock()
	if len(g.enrolments) == 0 {
		return Enrolment{}, false
	}
	enrolment := g.enrolments[0]
	g.enrolments = g.enrolments[1:]
	return enrolment, true
}

func newIssue(g *Generator, command Command, worker int) (Step, func(), error) {
	agent := g.agents[worker]
	connection, err := dialTLS(g.setup.MtlsAddress, agent.tlsConfig)
	if err != nil {
		return nil, nil, err
	}
	body, _ := json.Marshal(map[string]string{"csr_pem": agent.host.csrPEM})
	return asking(connection, postRequest("/v1/certs/issue", body))
}

// A new connection with a full mutual handshake for every request.
func newHandshake(g *Generator, command Command, worker int) (Step, func(), error) {
	config, request := g.agents[worker].tlsConfig.Clone(), getRequest(manifestPath)
	if command.IsClassic {
		config.CurvePreferences = []tls.CurveID{tls.X25519}
	}
	step := func() error {
		connection, err := dialTLS(command.Address, config)
		if err != nil {
			return err
		}
		defer connection.Close()
		_, err = connection.ask(request, 200)
		return err
	}
	return step, func() {}, nil
}

func newKept(g *Generator, command Command, worker int) (Step, func(), error) {
	connection, err := dialTLS(command.Address, g.agents[worker].tlsConfig)
	if err != nil {
		return nil, nil, err
	}
	return asking(connection, getRequest(manifestPath))
}

// Each agent fetches it once, on a connection of its own with a full handshake.
func newBlob(g *Generator, command Command, worker int) (Step, func(), error) {
	agent, isFetched := g.agents[worker], false
	step := func() error {
		if isFetched {
			return errExhausted
		}
		isFetched = true
		connection, err := dialTLS(command.Address, agent.tlsConfig)
		if err != nil {
			return err
		}
		defer connection.Close()
		_, err = connection.ask(getRequest(command.Path), 200)
		return err
	}
	return step, func() {}, nil
}

func newEvent(g *Generator, _ Command, worker int) (Step, func(), error) {
	connection, err := dialTLS(g.setup.MtlsAddress, g.agents[worker].tlsConfig)
	if err != nil {
		return nil, nil, err
	}
	number, id := 0, make([]byte, 16)
	step := func() error {
		number++
		if _, err := rand.Read(id); err != nil {
			return err
		}
		// Version 7, as those of an agent: they sort by when they were made.
		binary.BigEndian.PutUint64(id[:8], uint64(time.Now().UnixMilli())<<16|uint64(id[6])<<8|uint64(id[7]))
		id[6] = 0x70 | id[6]&0x0f
		requestID := fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
		body := fmt.Sprintf(`{"tipo_evento":"manifest_pulled","payload":{"count":%d},"request_id":"%s"}`, number, requestID)
		_, err := connection.ask(postRequest("/v1/events", []byte(body)), 200)
		return err
	}
	return step, func() { connection.Close() }, nil
}

// What the disk can do for one writer that waits for each record.
func newFdatasync(_ *Generator, command Command, _ int) (Step, func(), error) {
	file, err := os.OpenFile(command.Path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	record := make([]byte, payloadBytes)
	step := func() error {
		if _, err := file.Write(record); err != nil {
			return err
		}
		return syscall.Fdatasync(int(file.Fd()))
	}
	return step, func() { file.Close(); os.Remove(command.Path) }, nil
}
