package main

import (
	"fmt"
	"io"
	"sync"
)

// Stream is held and read, as an agent does; what comes on it is dropped.
type Stream struct {
	connection *Connection
	ended      chan struct{}
}

const openingAtOnce = 16

// Holds one stream for each of the first `count` agents; those that are held already are let go of.
func (g *Generator) holdStreams(count int) (any, error) {
	g.releaseStreams()
	if err := g.enrollAgents(count); err != nil {
		return nil, err
	}
	numbers := make(chan int, count)
	for number := 0; number < count; number++ {
		numbers <- number
	}
	close(numbers)
	var mutex sync.Mutex
	err := <-inParallel(openingAtOnce, func(int) error {
		for number := range numbers {
			stream, err := g.openStream(g.agents[number])
			if err != nil {
				return err
			}
			mutex.Lock()
			g.streams = append(g.streams, stream)
			mutex.Unlock()
		}
		return nil
	})
	return struct{}{}, err
}

func (g *Generator) openStream(agent Agent) (*Stream, error) {
	connection, err := dialTLS(g.setup.MtlsAddress, agent.tlsConfig)
	if err != nil {
		return nil, err
	}
	if _, err := connection.Write(getRequest("/v1/stream")); err != nil {
		return nil, err
	}
	line, err := connection.reader.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 12 || line[9:12] != "200" {
		return nil, fmt.Errorf("no stream: %s", line)
	}
	stream := &Stream{connection, make(chan struct{})}
	go func() {
		io.Copy(io.Discard, connection.reader)
		close(stream.ended)
	}()
	return stream, nil
}

// Fails when one of them has ended by itself.
func (g *Generator) checkStreams() (any, error) {
	for _, stream := range g.streams {
		select {
		case <-stream.ended:
			return nil, fmt.Errorf("one of %d streams has ended", len(g.streams))
		default:
		}
	}
	return struct{}{}, nil
}

func (g *Generator) releaseStreams() {
	for _, stream := range g.streams {
		stream.connection.Close()
		<-stream.ended
	}
	g.streams = nil
}
