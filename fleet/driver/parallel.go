package main

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Does the work for each number below `count`, and answers the first failure of each worker.
func inParallel(workers, count int, work func(number int) error) error {
	var next atomic.Int64
	var group sync.WaitGroup
	failures := make([]error, workers)
	for worker := range failures {
		group.Add(1)
		go func(worker int) {
			defer group.Done()
			for failures[worker] == nil {
				number := int(next.Add(1)) - 1
				if number >= count {
					return
				}
				failures[worker] = work(number)
			}
		}(worker)
	}
	group.Wait()
	return errors.Join(failures...)
}
