/**
 * Does one thing in a turn of the event loop: the first at once, what comes in the same turn afterwards. Handshakes that
 * have come to their certificates at the same time would else be verified one after the other, and agents would wait for
 * all of them.
 */
export function createOneATurn(): (work: () => void) => void {
  const later: (() => void)[] = []
  let isTaken = false
  const next = (): void => {
    const work = later.shift()
    isTaken = work !== undefined
    if (work === undefined) return
    setImmediate(next)
    work()
  }
  return (work) => {
    if (isTaken) {
      later.push(work)
      return
    }
    isTaken = true
    setImmediate(next)
    work()
  }
}
