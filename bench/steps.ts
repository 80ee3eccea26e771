// What each check of a request costs at the worst that a search finds, by itself: the order of checks is that of these prices
// (docs/protocol.md LIM-38). The whole hub under such requests is the row costly-requests of `npm run reliability`.

import { createHash, X509Certificate } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import {
  describeGenome,
  type Genome,
  type Grammar,
  mutate,
  randomGenome,
} from '../reliability/support/costly/genome.ts'
import { csrGrammar } from '../reliability/support/costly/csr-grammar.ts'
import { jsonGrammar } from '../reliability/support/costly/json-grammar.ts'
import { pemGrammar, proofGrammar } from '../reliability/support/costly/text-grammar.ts'
import { createFakeCa } from '../test/fakes/hub-certificates.ts'
import { createSeededRandom, type Random } from '../test/simulation/seeded-random.ts'
import { parseJsonBody } from '../src/hub/http/json/json-body.ts'
import { JSON_ROOM, type JsonRoom } from '../src/hub/http/json/json-room.ts'
import { verifyProof } from '../src/hub/service/agent/verify-proof.ts'
import { parseCsrPem } from '../src/pki/csr.ts'
import { decodePem } from '../src/pki/pem.ts'
import { DEFAULT_HUB_LIMITS } from '../src/protocol/hub-limits.ts'
import { LIMITS } from '../src/protocol/limits.ts'
import { type Figure, valueFigure } from './figure.ts'

const SEED = 15
const CANDIDATES = 60
const MUTATIONS = 120
/** Of CPU, for each that is quoted. */
const MEASURED_MS = 200
const CONTENTS = 40

interface Step {
  readonly what: string
  readonly grammar: Grammar
  readonly bytesMax: number
  readonly millisecondsMax: number
  readonly take: (content: string) => unknown
}

export async function measureSteps(): Promise<Figure[]> {
  const random = createSeededRandom(SEED)
  const results: Figure[] = []
  for (const step of await listSteps()) results.push(await measureStep(step, random))
  return results
}

async function listSteps(): Promise<readonly Step[]> {
  const { bodyBytes, csrBytes, jsonDepth: depthMax } = DEFAULT_HUB_LIMITS
  const ca = await createFakeCa()
  const { certificatePem } = await ca.issueServer('web-1')
  const certificate = new X509Certificate(certificatePem).raw
  const json = (room: JsonRoom) => (content: string) =>
    parseJsonBody(Buffer.from(content), { ...room, depthMax })
  return [
    {
      what: 'JSON of a stranger',
      grammar: jsonGrammar,
      bytesMax: bodyBytes,
      millisecondsMax: 5,
      take: json(JSON_ROOM.enroll),
    },
    {
      what: 'JSON of an agent',
      grammar: jsonGrammar,
      bytesMax: bodyBytes,
      millisecondsMax: 10,
      take: json(JSON_ROOM.mtls),
    },
    {
      what: 'bytes of an identity, for its look-up',
      grammar: pemGrammar,
      bytesMax: LIMITS.identityCharactersMax,
      millisecondsMax: 5,
      take: (content) => createHash('sha256').update(decodePem(content, 'certificate') ?? ''),
    },
    {
      what: 'proof of a recovery',
      grammar: proofGrammar,
      bytesMax: LIMITS.proofCharactersMax,
      millisecondsMax: 5,
      take: (content) => verifyProof(content, certificate),
    },
    {
      what: 'certificate request',
      grammar: csrGrammar,
      bytesMax: csrBytes,
      millisecondsMax: 10,
      take: parseCsrPem,
    },
  ]
}

async function measureStep(step: Step, random: Random): Promise<Figure> {
  const tried: { readonly genome: Genome; readonly milliseconds: number }[] = []
  const attempt = async (genome: Genome): Promise<void> => {
    tried.push({ genome, milliseconds: await glanceAt(step, genome, random) })
    tried.sort((a, b) => b.milliseconds - a.milliseconds)
  }
  const { grammar } = step
  for (const genome of grammar.found) await attempt(genome)
  for (let count = 0; count < CANDIDATES; count += 1) await attempt(randomGenome(grammar, random))
  for (let count = 0; count < MUTATIONS; count += 1) {
    const parent = tried[Math.floor(random() * 3)]
    if (parent !== undefined) await attempt(mutate(parent.genome, grammar, random))
  }
  const measured: Figure[] = []
  for (const { genome } of tried.slice(0, 3)) {
    measured.push(
      valueFigure({
        row: 'steps',
        what: `${step.what} of ${step.bytesMax} bytes at the worst`,
        value: await cpuMillisecondsOf(step, genome, random),
        unit: 'ms',
        aim: { atMost: step.millisecondsMax },
        note: describeGenome(genome),
      }),
    )
  }
  const [worst] = measured.sort((a, b) => b.value - a.value)
  return worst as Figure
}

/** By the clock, to choose by: the least of three, each of content that never came before. */
async function glanceAt(step: Step, genome: Genome, random: Random): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let time = 0; time < 3; time += 1) {
    const content = step.grammar.write(genome, step.bytesMax, random)
    const startedMs = performance.now()
    await take(step, content)
    least = Math.min(least, performance.now() - startedMs)
  }
  return least
}

/** All threads, since collecting what it leaves behind is a part of it. */
async function cpuMillisecondsOf(step: Step, genome: Genome, random: Random): Promise<number> {
  let spent = 0
  let times = 0
  while (spent < MEASURED_MS) {
    // What V8 has seen before costs it less.
    const contents = Array.from({ length: CONTENTS }, () =>
      step.grammar.write(genome, step.bytesMax, random),
    )
    const before = process.cpuUsage()
    for (const content of contents) await take(step, content)
    const { user, system } = process.cpuUsage(before)
    spent += (user + system) / 1000
    times += contents.length
  }
  return spent / times
}

async function take({ take: taken }: Step, content: string): Promise<void> {
  try {
    await taken(content)
  } catch {
    // A refusal costs what it costs.
  }
}
