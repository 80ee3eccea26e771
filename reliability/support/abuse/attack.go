package main

import (
	"bufio"
	"net"
	"sync"
	"time"
)

// Attack says what to do, to whom. The ports are those of the hub, each at 127.0.0.1.
type Attack struct {
	Ports               map[string]string `json:"ports"` // health, enroll and mtls: addresses
	SlowConnections     int               `json:"slow_connections"`
	HandshakesPerSecond int               `json:"handshakes_per_second"`
	GuessesPerSecond    int               `json:"guesses_per_second"`
	// The slow connections of a port are opened over so many seconds, and each again when it has been closed.
	RampSeconds float64 `json:"ramp_seconds"`
	// Of an agent that is none of the honest: what some of the slow connections have to get past the handshake with.
	Identity Identity `json:"identity"`
}

// Outcome is what came of an attack.
type Outcome struct {
	Seconds    float64       `json:"seconds"`
	Slow       []SlowOutcome `json:"slow"`
	Handshakes Handshakes    `json:"handshakes"`
	Guesses    Guesses       `json:"guesses"`
}

func attack(input *bufio.Reader) error {
	var attack Attack
	if err := readCommand(input, &attack); err != nil {
		return err
	}
	known, err := attack.Identity.clientConfig(false)
	if err != nil {
		return err
	}
	stranger, err := attack.Identity.clientConfig(true)
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	started := time.Now()
	slow := startSlow(attack, known, stop)
	handshakes := startHandshakes(attack, stranger, stop)
	guesses := startGuesses(attack, stop)
	waitForEnd(input)
	close(stop)
	outcome := Outcome{Seconds: time.Since(started).Seconds()}
	outcome.Slow, outcome.Handshakes, outcome.Guesses = slow(), handshakes(), guesses()
	return printAnswer(outcome)
}

// Linux lets a client of the loopback interface be any address of 127.0.0.0/8: so one machine can be many attackers, whom
// no limit of an address stops.
func sourceOf(network, number int) net.IP {
	return net.IPv4(127, byte(network), byte(number/250), byte(1+number%250))
}

// Nil is whatever address the system takes: that of the honest.
func dialerFrom(source net.IP, timeout time.Duration) *net.Dialer {
	dialer := &net.Dialer{Timeout: timeout}
	if source != nil {
		dialer.LocalAddr = &net.TCPAddr{IP: source}
	}
	return dialer
}

// Calls `work` so often a second, at most `atOnce` at a time, until `stop`; the answer waits for those under way.
func startPaced(perSecond, atOnce int, stop <-chan struct{}, work func(number int)) (wait func()) {
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	group.Add(1)
	go func() {
		defer group.Done()
		started := time.Now()
		for number := 0; perSecond > 0; number++ {
			due := started.Add(time.Duration(number) * time.Second / time.Duration(perSecond))
			if !sleepUnless(stop, time.Until(due)) {
				return
			}
			select {
			case slots <- struct{}{}:
			case <-stop:
				return
			}
			group.Add(1)
			go func(number int) {
				defer group.Done()
				defer func() { <-slots }()
				work(number)
			}(number)
		}
	}()
	return group.Wait
}

// Whether the time has passed without a stop.
func sleepUnless(stop <-chan struct{}, duration time.Duration) bool {
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
		return true
	}
}
