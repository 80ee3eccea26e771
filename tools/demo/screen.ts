// What the demo shows: a line for each step, and some text around them.

export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Runs one step, and shows that it is under way, what it was and how long it took. */
export async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const isTerminal = process.stdout.isTTY
  if (isTerminal) process.stdout.write(`  \u2026 ${title}`)
  const result = await work()
  const durationMs = Math.round(performance.now() - startedAt)
  process.stdout.write(`${isTerminal ? '\r\u001B[K' : ''}  ok  ${title} (${durationMs} ms)\n`)
  return result
}
