// What the page of the test runs: src/audit/browser on each export that it is told of, and a count of how often the page had its turn
// meanwhile. esbuild bundles it.

import { verifyExport, type VerifiedExport } from '../../../src/audit/browser/verify-export.ts'

export interface PageCase {
  /** Where its bytes are. */
  readonly path: string
  readonly key: string
  readonly kept?: string
  /** As of a file that a person chose, and not as an answer of a server. */
  readonly isFile?: boolean
}

export interface PageResult {
  readonly verified: VerifiedExport
  /** How often it heard of progress, and how many turns others had while it verified. */
  readonly steps: number
  readonly turns: number
  readonly ms: number
}

export type PageReport =
  | { readonly agent: string; readonly results: readonly PageResult[] }
  | { readonly error: string }

async function runCase({ path, isFile = false, ...expectation }: PageCase): Promise<PageResult> {
  const response = await fetch(path)
  const chunks = isFile ? (await response.blob()).stream() : response.body
  if (chunks === null) throw new Error(`${path} has no body`)
  const { port1, port2 } = new MessageChannel()
  const counts = { steps: 0, turns: 0 }
  port1.addEventListener('message', () => {
    counts.turns += 1
    port2.postMessage(undefined)
  })
  port1.start()
  port2.postMessage(undefined)
  const started = performance.now()
  const onProgress = (): void => void (counts.steps += 1)
  const verified = await verifyExport(chunks, { ...expectation, onProgress })
  const ms = Math.round(performance.now() - started)
  port1.close()
  return { verified, ...counts, ms }
}

async function run(): Promise<PageReport> {
  try {
    const cases = (await (await fetch('/cases')).json()) as readonly PageCase[]
    const results: PageResult[] = []
    for (const one of cases) results.push(await runCase(one))
    return { agent: navigator.userAgent, results }
  } catch (error) {
    return { error: String(error) }
  }
}

await fetch('/report', { method: 'POST', body: JSON.stringify(await run()) })
