// A vault that is damaged in any byte, and one whose hub was killed.

import { rm } from 'node:fs/promises'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import type { UnsealedVault } from '../../src/hub/vault/vault.ts'
import { hubEnvironment } from '../../test/support/hub.ts'
import { makeQuickDirectory } from '../../test/simulation/quick-directory.ts'
import { startScriptedCa } from '../../test/support/scripted-ca.ts'
import { collectBroken } from '../support/collect-broken.ts'
import { crashHubs } from '../support/vault/core-dumps.ts'
import {
  type DamagedFile,
  type DamagedVault,
  type DamageTally,
  damageVault,
} from '../support/vault/damage.ts'
import { flipUnderPrograms, type ProgramDamage } from '../support/vault/flip-under-programs.ts'
import { type CanaryScan, scanKilledHub } from '../support/vault/killed-hub.ts'
import { makeLargeVault, makeSmallVaults } from '../support/vault/sample-vaults.ts'

export const vault: ReliabilityRow = {
  name: 'vault',
  promise:
    'the hub refuses and names damage, and rewrites nothing; no plaintext and no core is on the disk',
  run: tryVault,
}

interface Extent {
  readonly smallFlips: number
  readonly headFlips: number
  readonly walFlips: number
  readonly largeFlips: number
  readonly largeEntries: number
  readonly programFlips: number
  readonly kills: number
  readonly crashes: number
}

const CRASHES = ['SIGSEGV', 'SIGABRT'] as const

const SMALL: Extent = {
  smallFlips: 400,
  headFlips: 50,
  walFlips: 150,
  largeFlips: 40,
  largeEntries: 1000,
  programFlips: 1,
  kills: 1,
  crashes: 1,
}
const FULL: Extent = {
  smallFlips: Number.POSITIVE_INFINITY,
  headFlips: Number.POSITIVE_INFINITY,
  walFlips: 20_000,
  largeFlips: 10_000,
  largeEntries: 4000,
  programFlips: 24,
  kills: 10,
  crashes: 2,
}

async function tryVault(context: RowContext): Promise<RowResult> {
  const { directory, setting } = context
  const extent = setting === 'full' ? FULL : SMALL
  const tried: string[] = []
  const broken: string[] = []
  const part = (name: string, work: () => Promise<string>): Promise<void> =>
    collectBroken(broken, name, async () => void tried.push(await work()))
  await using ca = await startScriptedCa(() => ({ kind: 'sign' }))
  // A hundred thousand flips, each with its commits, of which none has to last.
  const quick = await makeQuickDirectory('cartorio-reliability-vault-')
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(quick, { recursive: true, force: true }))
  const { whole, killed } = await makeSmallVaults(quick, ca.environment)
  const environment = hubEnvironment(whole.root, { caEnvironment: ca.environment })
  const flipParts = [
    [
      'a small vault',
      () =>
        flipFiles(context, whole, [
          ['config.json', Number.POSITIVE_INFINITY],
          ['db.enc', extent.smallFlips],
        ]),
    ],
    ['its heads', () => flipFiles(context, whole, [['audit.head', extent.headFlips]])],
    [
      'a killed hub’s write-ahead log',
      () => flipFiles(context, killed, [['db.enc-wal', extent.walFlips]]),
    ],
    ['a large vault', () => flipLarge(context, quick, extent)],
  ] as const
  for (const [name, flips] of flipParts) {
    await part(name, async () => {
      const tally = await flips()
      broken.push(...tally.broken)
      return describeTally(name, tally)
    })
  }
  await part('programs', async () => {
    const result: ProgramDamage = { runs: 0, broken }
    for (let count = 0; count < extent.programFlips; count += 1) {
      const file = count % 4 === 3 ? 'config.json' : 'db.enc'
      await flipUnderPrograms(result, whole, environment, { file, place: context.random() })
    }
    return `${result.runs} programs started on a damaged vault`
  })
  await part('killed hubs', async () => {
    const scan: CanaryScan = { canaries: 0, files: 0, bytes: 0, broken }
    for (let count = 0; count < extent.kills; count += 1) {
      await scanKilledHub(scan, directory, ca.environment)
    }
    return `${scan.files} files of ${extent.kills} killed hubs looked through for ${scan.canaries} secrets`
  })
  let measured = ''
  await part('crashes', async () => {
    const crashes = CRASHES.slice(0, extent.crashes)
    const cores = await crashHubs(directory, environment, crashes)
    broken.push(...cores.broken)
    measured = `a program that crashes ${cores.othersLeaveOne ? 'leaves a' : 'would leave no'} core here`
    return `${cores.crashes} crashes`
  })
  return { tried: tried.join('; '), broken, measured }
}

/** As many bytes of each file of a vault like the sample as are wanted. */
async function flipFiles(
  context: RowContext,
  sample: UnsealedVault,
  wanted: readonly (readonly [file: DamagedFile, flips: number])[],
): Promise<DamageTally> {
  const damaged = await damageVault(sample)
  for (const [file, flips] of wanted) await flipBytes(context, damaged, file, flips)
  return damaged.tally
}

async function flipLarge(
  context: RowContext,
  directory: string,
  extent: Extent,
): Promise<DamageTally> {
  const damaged = await damageVault(await makeLargeVault(directory, extent.largeEntries))
  await flipBytes(context, damaged, 'db.enc', extent.largeFlips)
  return damaged.tally
}

/** All of them in order when that is not more than `flips`, else as many at random places. */
async function flipBytes(
  context: RowContext,
  damaged: DamagedVault,
  file: DamagedFile,
  flips: number,
): Promise<void> {
  const size = damaged.sizeOf(file)
  const count = Math.min(size, flips)
  for (let number = 0; number < count; number += 1) {
    if (number % 5000 === 0) context.progress(`${file}: ${number} of ${count} bytes`)
    const offset = count === size ? number : Math.floor(context.random() * size)
    await damaged.flip(file, offset, 1 + Math.floor(context.random() * 255))
  }
}

function describeTally(what: string, tally: DamageTally): string {
  return (
    `${tally.flips} bytes of ${what} (refused at start ${tally.refusedAtStart}, ` +
    `by svc unseal ${tally.refusedByUnseal}, harmless ${tally.harmless})`
  )
}
