package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	handshakesAtOnce = 256
	handshakeSources = 100
	guessers         = 64
)

// Handshakes are those without a client certificate. Any that gets an answer in HTTP is a broken promise.
type Handshakes struct {
	Tried    int64 `json:"tried"`
	Refused  int64 `json:"refused"`
	Answered int64 `json:"answered"`
	// Not refused for want of a certificate, but not reached at all or cut.
	Cut int64 `json:"cut"`
}

func startHandshakes(attack Attack, config *tls.Config, stop <-chan struct{}) (wait func() Handshakes) {
	var tried, refused, answered, cut atomic.Int64
	done := startPaced(attack.HandshakesPerSecond, handshakesAtOnce, stop, func(number int) {
		tried.Add(1)
		answer, err := shakeHands(attack.Ports["mtls"], sourceOf(2, number%handshakeSources), config)
		switch {
		case len(answer) > 0:
			answered.Add(1)
		case err != nil && strings.Contains(err.Error(), "certificate required"):
			refused.Add(1)
		default:
			cut.Add(1)
		}
	})
	return func() Handshakes {
		done()
		return Handshakes{tried.Load(), refused.Load(), answered.Load(), cut.Load()}
	}
}

// In TLS 1.3 the client believes that it is connected until it reads.
func shakeHands(address string, source net.IP, config *tls.Config) (answer []byte, err error) {
	raw, err := dialerFrom(source, requestTimeout).Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	_ = raw.(*net.TCPConn).SetLinger(0)
	defer raw.Close()
	connection := tls.Client(raw, config)
	_ = connection.SetDeadline(time.Now().Add(requestTimeout))
	if err := connection.Handshake(); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(connection, manifestRequest); err != nil {
		return nil, err
	}
	buffer := make([]byte, 512)
	count, err := connection.Read(buffer)
	return buffer[:count], err
}

// Guesses are enrolments with tokens that nobody made.
type Guesses struct {
	Answered int64            `json:"answered"`
	Failed   int64            `json:"failed"`
	Statuses map[string]int64 `json:"statuses"`
}

func startGuesses(attack Attack, stop <-chan struct{}) (wait func() Guesses) {
	var mutex sync.Mutex
	guesses := Guesses{Statuses: map[string]int64{}}
	var group sync.WaitGroup
	for number := 0; number < guessers && attack.GuessesPerSecond > 0; number++ {
		group.Add(1)
		go func(number int) {
			defer group.Done()
			guesser := &guesser{address: attack.Ports["enroll"], source: sourceOf(3, number)}
			defer guesser.close()
			interval := time.Second * guessers / time.Duration(attack.GuessesPerSecond)
			for due := time.Now().Add(interval * time.Duration(number) / guessers); sleepUnless(stop, time.Until(due)); due = due.Add(interval) {
				status, err := guesser.guess()
				mutex.Lock()
				if err != nil {
					guesses.Failed++
				} else {
					guesses.Answered++
					guesses.Statuses[fmt.Sprint(status)]++
				}
				mutex.Unlock()
			}
		}(number)
	}
	return func() Guesses {
		group.Wait()
		return guesses
	}
}

type guesser struct {
	address    string
	source     net.IP
	connection net.Conn
	reader     *bufio.Reader
}

func (g *guesser) close() {
	if g.connection != nil {
		_ = g.connection.Close()
		g.connection = nil
	}
}

func (g *guesser) guess() (status int, err error) {
	if g.connection == nil {
		if g.connection, err = dialerFrom(g.source, requestTimeout).Dial("tcp", g.address); err != nil {
			g.connection = nil
			return 0, err
		}
		g.reader = bufio.NewReader(g.connection)
	}
	_ = g.connection.SetDeadline(time.Now().Add(requestTimeout))
	if _, err = g.connection.Write(guessRequest()); err == nil {
		status, err = readAnswer(g.reader)
	}
	if err != nil && !errors.Is(err, os.ErrClosed) {
		g.close()
	}
	return status, err
}

// A token of the right form, and a body as long as an honest one.
func guessRequest() []byte {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	var body bytes.Buffer
	fmt.Fprintf(&body, `{"token":"svct_%s","hostname":"web-01","role":"web","csr_pem":"-----BEGIN CERTIFICATE REQUEST-----\n%s\n-----END CERTIFICATE REQUEST-----\n"}`,
		base64.RawURLEncoding.EncodeToString(secret), strings.Repeat("MIIB", 100))
	head := fmt.Sprintf("POST /v1/enroll HTTP/1.1\r\nHost: hub\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", body.Len())
	return append([]byte(head), body.Bytes()...)
}
