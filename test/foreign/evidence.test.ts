// Evidence as tools/verify-evidence.py checks it, which shares no code with Cartorio: docs/protocol.md EVD. TEST_CERTIFICATES=10000
// plants a hundred falsifications among ten thousand certificates, and prints what that takes.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { evidenceLines } from '../../src/admin/commands/evidence/evidence-lines.ts'
import {
  type EvidenceOperations,
  planEvidence,
} from '../../src/admin/commands/evidence/plan-evidence.ts'
import { formatTimestamp } from '../../src/audit/hash-chain.ts'
import { plainSerial } from '../../src/evidence/serial-number.ts'
import { formatVerifierKey, noteSigner, signNote } from '../../src/audit/signed-note.ts'
import { createSeededRandom, seedFrom } from '../simulation/seeded-random.ts'
import { makeCertificates, serialSetOf } from '../support/made-certificates.ts'
import { falsify, type Plant } from '../support/falsified-evidence.ts'
import { startTool } from '../support/processes.ts'
import { withTools } from '../support/tools.ts'

const CERTIFICATES = Number(process.env['TEST_CERTIFICATES'] ?? '1500')
/** One of each kind, or three. */
const FALSIFICATIONS = CERTIFICATES < 10_000 ? 41 : 100
const SEED = seedFrom(process.env['SIM_SEED'])
const SCRIPT = join(import.meta.dirname, '../../tools/verify-evidence.py')
const SILENT = { show: () => undefined, clear: () => undefined }

interface Head {
  readonly checkpoint: string
  readonly after: number
  readonly until: number
}

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

    async function evidenceOf(
      serials: readonly string[] | undefined,
      agent?: string,
      hub: EvidenceOperations = operations,
      period = periodOf(size),
    ): Promise<string> {
      const wanted = { ...period, agent, serials: serials && serialSetOf(serials) }
      const plan = await planEvidence(hub, wanted, SILENT)
      const pieces: string[] = []
      for await (const piece of evidenceLines(hub, plan, SILENT)) pieces.push(piece)
      return pieces.join('')
    }

    async function run(content: string, key: string, ...args: readonly string[]) {
      const file = join(place, 'evidence')
      await writeFile(file, content)
      return startTool('python3', [SCRIPT, file, '--key', key, ...args]).ended
    }

    async function verify(content: string, key = log.key, ...args: readonly string[]) {
      const ended = await run(content, key, ...args)
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
      assert.match(
        one.stdout,
        /not proven: that no entry about agent h\.example \([-0-9a-f]{36}\) was left out/,
      )
    })

    test('[EVD-11] what CA and log do not share stands out', async () => {
      const [gone] = made.serials.slice(Math.floor(made.serials.length / 2))
      const serials = [...made.serials.filter((serial) => serial !== gone), 'dead10cc']
      const { faults, stdout, status } = await verify(await evidenceOf(serials))
      assert.deepEqual([faults, status], [[], 2])
      assert.match(stdout, /^rogue: dead10cc$/m)
      assert.match(stdout, new RegExp(`^missing: ${plainSerial(gone ?? '')}, entry \\d+$`, 'm'))
    })

    test('[EVD-5] a file that says which entries are absent is true, and incomplete', async () => {
      const gone = Math.floor(size / 2)
      const lossy = {
        ...operations,
        listRecords: async ({ after: last = 0, limit = 1000 }) => {
          const first = last >= gone && last < gone + 7 ? gone + 7 : last
          const end = first < gone ? Math.min(gone, first + limit) : first + limit
          return { registros: log.records.slice(first, end), next: null }
        },
      }
      const { faults, stdout, status } = await verify(await evidenceOf(undefined, undefined, lossy))
      assert.deepEqual([faults, status], [[], 2])
      assert.match(stdout, /^incomplete: 7 entries of the period are not in the file$/m)
    })

    test('[EVD-10] a list that is none is named with its line, a key that is none too', async () => {
      const bad = join(place, 'bad')
      await writeFile(bad, '10 (0xa)\n# nothing\n²\n')
      const none = await run(text, log.key, '--ca-serials', bad)
      assert.match(none.stderr, /bad, line 3: "\\u00b2" is no serial\n$/)
      for (const line of [(2n ** 256n).toString(), `# ${'x'.repeat(9_000_000)}`]) {
        await writeFile(bad, `10\n${line}\n11\n`)
        const { stderr, status } = await run(text, log.key, '--ca-serials', bad)
        assert.match(
          stderr,
          /bad, line 2: .* is no serial\n$|bad, line 2: it has more than 4096 bytes\n$/,
        )
        assert.equal(status, 1)
      }
      const gone = await run(text, log.key, '--ca-serials', join(place, 'gone'))
      assert.match(gone.stderr, /^cannot read \S+gone: No such file or directory\n$/)
      const key = await run(text, 'key')
      assert.match(key.stderr, /error: --key is no key of a log\n$/)
      assert.deepEqual([none.status, gone.status, key.status], [1, 1, 1])
    })

    test('[EVD-10] a list with a byte order mark is one, as Windows writes it', async () => {
      const marked = join(place, 'marked')
      await writeFile(marked, `\uFEFF${made.serials.map((serial) => `0x${serial}\r\n`).join('')}`)
      const { faults, status } = await verify(text, log.key, '--ca-serials', marked)
      assert.deepEqual([faults, status], [[], 0])
    })

    test('a serial of the CA that was left out of twenty thousand is named', async () => {
      const many = Array.from({ length: 20_000 }, (_, index) => `f${index.toString(16)}`)
      const whole = await evidenceOf([...made.serials, ...many])
      const theirs = join(place, 'many')
      await writeFile(theirs, [...made.serials, ...many, 'f00'].map((one) => `0x${one}\n`).join(''))
      const { faults, status } = await verify(whole, log.key, '--ca-serials', theirs)
      assert.deepEqual(
        [faults.map(({ text: said }) => said), status],
        [['serial f00 of the list that was given is not in the file'], 1],
      )
    })

    describe('what is false of the whole file is named:', () => {
      const few = makeCertificates(60, random)
      const total = few.log.records.length
      let small: string
      before(async () => {
        small = await evidenceOf(few.serials, undefined, few.operations, periodOf(total))
      })
      const editHead = (edit: (head: Head) => object): string => {
        const end = small.indexOf('\n')
        const head = JSON.parse(small.slice(0, end)) as Head
        return `${JSON.stringify({ ...head, ...edit(head) })}${small.slice(end)}`
      }
      const other = noteSigner(few.log.signer.name, generateKeyPairSync('ed25519').privateKey)
      const resigned = ({ checkpoint }: Head): string =>
        signNote(checkpoint.slice(0, checkpoint.lastIndexOf('\n\n') + 1), other)
      const cases: Record<string, readonly [() => string, RegExp]> = {
        'a checkpoint that another key signed': [
          () => editHead((head) => ({ checkpoint: resigned(head) })),
          /^\S+:1: the checkpoint is not signed with this key$/m,
        ],
        'another key beside it': [
          () => editHead((head) => ({ checkpoint: resigned(head), key: formatVerifierKey(other) })),
          /^\S+:1: the file names another key: cartorio\/a-vault\+/m,
        ],
        'another root': [
          () =>
            editHead(({ checkpoint }) => ({
              checkpoint: checkpoint.replace(/\n.{43}=/, `\n${'A'.repeat(43)}=`),
            })),
          /^\S+:1: the checkpoint is not signed with this key$/m,
        ],
        'another number of entries': [
          () =>
            editHead(({ checkpoint }) => ({ checkpoint: checkpoint.replace(/\n\d+\n/, '\n99\n') })),
          /^\S+:1: the checkpoint is not signed with this key$/m,
        ],
        'a period that begins later than its entries': [
          () => editHead(() => ({ from: at(Math.floor(total / 5)) })),
          /^\S+:\d+: entry \d+ is of \S+, which is not in the period$/m,
        ],
        'a period that seems to begin later': [
          () => editHead(({ after: first }) => ({ after: first + 1 })),
          /^\S+:1: nothing shows that the period begins after entry \d+$/m,
        ],
        'a period that seems to end earlier': [
          () => editHead(({ until }) => ({ until: until - 1 })),
          /^\S+:1: nothing shows that the period ends with entry \d+$/m,
        ],
        'half a line': [
          () => small.slice(0, -40),
          /: this line is cut off$[^]*: the file is cut off: its last line is missing$/m,
        ],
        'half a file': [
          () => small.slice(0, small.indexOf('\n', small.length / 2) + 1),
          /^\S+:\d+: the file is cut off: its last line is missing$/m,
        ],
        'a line after the last': [
          () => `${small}{"ca":"1","entry":null}\n`,
          /this line stands after the end/,
        ],
        'entries that stand there, and are said to be absent': [
          () =>
            small
              .replace(
                /\n(\{"record":"13:svc-evento-v1,\d+:([4-9]\d),[^\n]*\n\{"record")/,
                (_, lines: string, seq: string) =>
                  `\n{"absent":{"after":${Number(seq) - 1},"until":${Number(seq) + 1},"why":"gone"}}\n${lines}`,
              )
              .replace(/"absent":0\}\}\n$/, '"absent":2}}\n'),
          /^\S+:\d+: entry \d+ stands in the file, and is said to be absent$/m,
        ],
        'a proof that stands twice': [
          () => small.replace(/\n(\{"block":[^\n]*\n)/, '\n$1$1'),
          /^\S+:3: block \d+ stands after block \d+$/m,
        ],
        'another agent than its certificates have': [
          () => editHead(() => ({ agente: { id: 'a', hostname: 'a.example' } })),
          /^\S+:\d+: certificate \S+ of entry \d+ is of another agent than the file$/m,
        ],
        'an empty file': [() => '', /^\S+:1: the file is empty$/m],
        'another count': [
          () => small.replace(/("end":\{"entries":)\d+/, '$17'),
          /^\S+:\d+: the file ends with \{"entries": 7,/m,
        ],
        'no list, where there was one': [
          () => editHead(() => ({ ca: false })),
          /: ca is true, and the list of the CA in the file says null$/m,
        ],
        'entries that were left out behind an absence of none': [
          () => {
            const { after: first } = JSON.parse(small.slice(0, small.indexOf('\n'))) as Head
            const none = JSON.stringify({ absent: { after: first, until: first, why: 'x' } })
            const [head = '', ...rest] = editHead(() => ({ after: first + 1 })).split('\n')
            const kept = rest.filter(
              (line) =>
                !/^\{"record":"13:svc-evento-v1,\d+:(\d+),/.test(line) || seqIn(line) > first,
            )
            return [head, none, ...kept].join('\n')
          },
          /^\S+:2: no entries are absent here$/m,
        ],
        'absences that add up to nothing': [
          () => {
            const { after: first } = JSON.parse(small.slice(0, small.indexOf('\n'))) as Head
            const gone = (seq: number): boolean => seq > first + 1 && seq <= first + 4
            const absence = (start: number, until: number): string =>
              JSON.stringify({ absent: { after: start, until, why: 'x' } })
            const lines = small.split('\n').filter((line) => !gone(seqIn(line)))
            const next = lines.findIndex((line) => seqIn(line) > first + 1)
            const both = [absence(first + 1, first + 4), absence(first + 7, first + 4)]
            return lines.toSpliced(next, 0, ...both).join('\n')
          },
          /^\S+:\d+: no entries are absent here$/m,
        ],
        'a member beside those that a line has': [
          () => small.replace(/(\{"ca":"[^"]*","entry":\d+)/, '$1,"note":"known"'),
          /^\S+:\d+: this line has other members than it should$/m,
        ],
        'a member of the head that stands twice': [
          () => small.replace('"from":', '"from":"2026-01-01T00:00:00.000000Z","from":'),
          /^\S+:1: this line is not written as svc writes it$/m,
        ],
        'a number that is another kind of number': [
          () => small.replace(/("issued":\{"seq":\d+)/, '$1.0'),
          /^\S+:\d+: 1?\d*\.0 is no JSON$|not written as svc writes it/m,
        ],
        'a list of the CA, where the head says that there is none': [
          () => editHead(() => ({ ca: false })),
          /^\S+:\d+: the file says that it has no list of the CA$/m,
        ],
        'lines in another order': [
          () => {
            const lines = small.split('\n')
            const last = lines.findIndex((line) => line.startsWith('{"ca"'))
            const first = lines.findIndex((line) => line.startsWith('{"certificate"'))
            return lines
              .toSpliced(last, 1)
              .toSpliced(first, 0, lines[last] ?? '')
              .join('\n')
          },
          /^\S+:\d+: a line of this kind \(certificate\) stands too late$/m,
        ],
        'a record that leads back to its own beginning': [
          () => small.replace(/\{"record":"[^\n]*/, '{"record":"0:,-4:"}'),
          /^\S+:3: no netstring$/m,
        ],
        'a line without an end': [
          () => `${small.slice(0, small.indexOf('\n') + 1)}"${'x'.repeat(9 * 1024 * 1024)}`,
          /^\S+:2: this line has more than 8388608 bytes$/m,
        ],
        'lines that nobody can read': [
          () =>
            [
              '['.repeat(100_000),
              `{"block":${'9'.repeat(1_000_000)}}`,
              '{}',
              '[]',
              'NaN',
              '{"end":1}',
            ]
              .map((line) => `${line}\n`)
              .reduce((content, line) => content.replace('\n', `\n${line}`), small),
          /^FALSE: \d+ faults$/m,
        ],
        'a thousand faults and more': [
          () => small.replace('\n', `\n${'{}\n'.repeat(200_000)}`),
          /^FALSE: 1000 faults; the rest was not looked at$/m,
        ],
        'what speaks to the terminal': [
          () => small.replace(/("certificate":\{"serial":")/, '$1\\u001b[2J'),
          /certificate \\x1b\[2J[0-9a-f]+ of entry/,
        ],
        'white space in a line': [
          () => small.replace('"serial":', '"serial": '),
          /not written as svc writes it/,
        ],
      }
      for (const [name, [forge, said]] of Object.entries(cases)) {
        test(name, async () => {
          const { stdout, status } = await verify(forge())
          assert.match(stdout, said)
          assert.equal(status, 1)
          assert.match(stdout, /^[\n -~]*$/, 'nothing but ASCII')
        })
      }
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

/** A tenth of the log is before the period, and a tenth after it. Entries are a second apart. */
function seqIn(line: string): number {
  const [, seq] = /^\{"record":"13:svc-evento-v1,\d+:(\d+),/.exec(line) ?? []
  return Number(seq ?? Number.NaN)
}

function periodOf(entries: number): { readonly from: string; readonly to: string } {
  return { from: at(Math.floor(entries / 10)), to: at(Math.floor((entries * 9) / 10)) }
}

function at(second: number): string {
  return formatTimestamp(new Date(second * 1000))
}
