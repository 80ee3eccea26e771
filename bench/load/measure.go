package main

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	signPath     = "/1.0/sign"
	caClients    = 16
	eventAgents  = 32
	keptClients  = 32
	blobAgents   = 100
	storms       = 8
	payloadBytes = 512
)

// Measurement is what one workload achieved.
type Measurement struct {
	Count   int64   `json:"count"`
	Seconds float64 `json:"seconds"`
	// CPU seconds that this process spent for each second of the clock.
	Busy float64 `json:"busy"`
}

// Step does one piece of work; errExhausted ends the measurement early.
type Step func() error

var errExhausted = errors.New("nothing prepared is left")

// Workload says how many workers there are, and makes the step of each before the clock starts.
type Workload struct {
	workers int
	newStep func(g *Generator, command Command, worker int) (Step, func(), error)
}

var workloads = map[string]Workload{
	"sign":      {caClients, newDirectSign},
	"enroll":    {caClients, newEnrol},
	"issue":     {caClients, newIssue},
	"handshake": {storms, newHandshake},
	"kept":      {keptClients, newKept},
	"blob":      {blobAgents, newBlob},
	"events":    {eventAgents, newEvent},
	"fdatasync": {1, newFdatasync},
}

func (g *Generator) measure(command Command) (*Measurement, error) {
	workload, ok := workloads[command.Name]
	if !ok {
		return nil, errors.New("no such workload")
	}
	steps := make([]Step, workload.workers)
	for worker := range steps {
		step, end, err := workload.newStep(g, command, worker)
		if err != nil {
			return nil, err
		}
		defer end()
		steps[worker] = step
	}
	var count atomic.Int64
	started, spent := time.Now(), cpuSeconds()
	deadline := started.Add(time.Duration(command.Seconds * float64(time.Second)))
	err := <-inParallel(len(steps), func(worker int) error {
		for time.Now().Before(deadline) {
			if err := steps[worker](); err == errExhausted {
				return nil
			} else if err != nil {
				return err
			}
			count.Add(1)
		}
		return nil
	})
	seconds := time.Since(started).Seconds()
	return &Measurement{count.Load(), seconds, (cpuSeconds() - spent) / seconds}, err
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

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
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
	agent, request := g.agents[worker], getRequest("/v1/manifest")
	step := func() error {
		connection, err := dialTLS(command.Address, agent.tlsConfig)
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
	return asking(connection, getRequest("/v1/manifest"))
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
