// Evidence as tools/verify-evidence.py checks it, which shares no code with Cartorio: docs/protocol.md EVD. TEST_CERTIFICATES=10000
// plants a hundred falsifications among ten thousand certificates, and prints what that takes.

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { evidenceLines } from '../../src/admin/commands/evidence/evidence-lines.ts'
import { planEvidence } from '../../src/admin/commands/evidence/plan-evidence.ts'
import { formatTimestamp } from '../../src/audit/hash-chain.ts'
import { plainSerial } from '../../src/evidence/serial-number.ts'
import { createSeededRandom, seedFrom } from '../simulation/seeded-random.ts'
import { makeCertificates } from '../support/made-certificates.ts'
import { falsify, type Plant } from '../support/falsified-evidence.ts'
import { startTool } from '../support/processes.ts'
import { withTools } from '../support/tools.ts'

const CERTIFICATES = Number(process.env['TEST_CERTIFICATES'] ?? '1500')
/** One of each kind, or three. */
const FALSIFICATIONS = CERTIFICATES < 10_000 ? 34 : 100
const SEED = seedFrom(process.env['SIM_SEED'])
const SCRIPT = join(import.meta.dirname, '../../tools/verify-evidence.py')
const SILENT = { show: () => undefined, clear: () => undefined }

interface Fault {
  readonly line: number
  readonly text: string
}

describe(
  '[EVD-12] evidence, and a verifier that knows only the protocol',
  withTools('python3'),
  () => {
    const random = createSeededRandom(SEED)
    const made = makeCertificates(CERTIFICATES, random)
    const { log, operations } = made
    const size = log.records.length
    // A tenth of the log is before the period, and a tenth after it. Entries are a second apart.
    const [from, to] = [at(Math.floor(size / 10)), at(Math.floor((size * 9) / 10))]
    let place: string
    let text: string
    let list: string
    before(async () => {
      process.stdout.write(`evidence seed ${SEED}\n`)
      place = await mkdtemp(join(tmpdir(), 'svc-evidence-'))
      text = await evidenceOf(made.serials)
      list = join(place, 'serials')
      await writeFile(list, made.serials.map((serial) => `${BigInt(`0x${serial}`)}\n`).join(''))
    })
    after(() => rm(place, { recursive: true }))

    async function evidenceOf(serials: readonly string[] | undefined, agent?: string) {
      const wanted = { from, to, agent, serials: serials && new Set(serials.map(plainSerial)) }
      const plan = await planEvidence(operations, wanted, SILENT)
      const pieces: string[] = []
      for await (const piece of evidenceLines(operations, plan, SILENT)) pieces.push(piece)
      return pieces.join('')
    }

    async function verify(content: string, key = log.key, ...args: readonly string[]) {
      const file = join(place, 'evidence')
      await writeFile(file, content)
      const ended = await startTool('python3', [SCRIPT, file, '--key', key, ...args]).ended
      assert.equal(ended.stderr, '')
      const faults = ended.stdout.matchAll(/^\S+evidence:(\d+): (.*)$/gm)
      return {
        ...ended,
        faults: [...faults].map(([, line, said = '']): Fault => ({
          line: Number(line),
          text: said,
        })),
      }
    }

    test('an honest file is true, whether there is a list of the CA or not', async () => {
      const honest = await verify(text, log.key, '--ca-serials', list)
      assert.deepEqual([honest.faults, honest.status], [[], 0], honest.stdout)
      assert.match(
        honest.stdout,
        /^proven: \d+ entries, \d+ certificates, \S+ to \S+\nsigned: cartorio\/a-vault, \d+ entries\n$/,
      )
      const alone = await verify(await evidenceOf(undefined))
      assert.deepEqual([alone.faults, alone.status], [[], 0])
      assert.match(alone.stdout, /not compared with the CA/)
    })

    test('a file about one agent is true, and says what it does not prove', async () => {
      const agent = JSON.parse(
        text.split('\n').find((line) => line.startsWith('{"certificate"')) ?? '',
      ) as {
        certificate: { agente_id: string }
      }
      const one = await verify(await evidenceOf(undefined, agent.certificate.agente_id))
      assert.deepEqual([one.faults, one.status], [[], 0], one.stdout)
      assert.match(one.stdout, /not proven: that no entry about agent h\.example was left out/)
    })

    test('[EVD-11] what CA and log do not share stands out', async () => {
      const [gone] = made.serials.slice(Math.floor(made.serials.length / 2))
      const serials = [...made.serials.filter((serial) => serial !== gone), 'dead10cc']
      const { faults, stdout, status } = await verify(await evidenceOf(serials))
      assert.deepEqual([faults, status], [[], 2])
      assert.match(stdout, /^rogue: dead10cc$/m)
      assert.match(stdout, new RegExp(`^missing: ${plainSerial(gone ?? '')}, entry \\d+$`, 'm'))
    })

    test(`${FALSIFICATIONS} falsifications among ${CERTIFICATES} certificates are named, and nothing else`, async () => {
      const falsified = falsify(text, FALSIFICATIONS, random)
      const { faults, status, stdout } = await verify(falsified.text, log.key, '--ca-serials', list)
      assert.equal(status, 1)
      const isNamed = ({ isNamedBy }: Plant) =>
        faults.some((fault) => isNamedBy(fault.line, fault.text))
      const unnamed = falsified.plants.filter((plant) => !isNamed(plant)).map(({ kind }) => kind)
      const beside = faults.filter(
        (fault) => !falsified.plants.some(({ isNamedBy }) => isNamedBy(fault.line, fault.text)),
      )
      assert.deepEqual({ unnamed, beside }, { unnamed: [], beside: [] }, stdout)
      process.stdout.write(`${faults.length} faults of ${FALSIFICATIONS} falsifications\n`)
    })
  },
)

function at(second: number): string {
  return formatTimestamp(new Date(second * 1000))
}
