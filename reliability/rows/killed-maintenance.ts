// Backup, restore, archive, compact, rekey and a change of the passphrase, as processes: killed at any moment and at their calls to the
// disk, and on a disk that is full.

import { join } from 'node:path'
import { startScriptedCa } from '../../test/support/scripted-ca.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { findMountObstacle } from '../support/faults/small-disk.ts'
import { runOnFullDisk } from '../support/maintenance/fill-disk.ts'
import { killOnce, logPathIn, recordUsualRun } from '../support/maintenance/kill-maintenance.ts'
import { prepareVaults } from '../support/maintenance/prepared-vaults.ts'
import { allWorks, type Work } from '../support/maintenance/works.ts'
import { findMissingStrace } from '../support/missing-strace.ts'
import { pickOne } from '../support/pick.ts'

/** In the small setting, two of the kinds of work, chosen anew each time, are enough. */
const COUNTS = {
  small: { works: 2, kills: 2, fullDisks: 1 },
  full: { works: Infinity, kills: 24, fullDisks: 8 },
}
/** For each kill: the work may have ended before. */
const TRIES_MAX = 3
const FREE_KIB = [0, 64, 256, 512, 1024, 1536, 2048, 3072]

export const killedMaintenance: ReliabilityRow = {
  name: 'killed maintenance',
  promise:
    'backup, restore, archive, compact, rekey, passphrase: after a kill or on a full disk nothing is lost, and the next try succeeds',
  run: tryMaintenance,
}

interface Tally {
  kills: number
  fullDisks: number
  readonly byWork: Map<string, number>
  readonly broken: string[]
}

async function tryMaintenance(context: RowContext): Promise<RowResult> {
  const { directory, setting, random } = context
  const missing = findMissingStrace()
  if (missing !== undefined) return { tried: 'nothing', broken: [], skipped: missing }
  await using ca = await startScriptedCa(() => ({ kind: 'sign' }))
  const prepared = await prepareVaults(directory, ca.environment)
  const works = choose(allWorks(prepared), COUNTS[setting].works, random)
  const tally: Tally = { kills: 0, fullDisks: 0, byWork: new Map(), broken: [] }
  for (const work of works) await killOften(work, context, tally)
  const obstacle = await findMountObstacle()
  if (obstacle === undefined || process.env['CI'] === 'true') {
    for (const work of works) await fillOften(work, context, tally)
  }
  const counts = [...tally.byWork].map(([name, count]) => `${name} ${count}`)
  return {
    tried: `${tally.kills} kills (${counts.join(', ')}), ${tally.fullDisks} tries on a full disk`,
    broken: tally.broken,
    ...(obstacle === undefined ? {} : { measured: `no full disk: ${obstacle}` }),
  }
}

async function killOften(work: Work, context: RowContext, tally: Tally): Promise<void> {
  const { directory, setting, random } = context
  const root = join(directory, 'tried')
  const usual = await recordUsualRun(work, root, logPathIn(directory, work))
  const wanted = COUNTS[setting].kills
  let kills = 0
  for (let tries = wanted * TRIES_MAX; kills < wanted && tries > 0; tries -= 1) {
    const { isKilled, faults } = await killOnce(work, usual, root, random)
    if (isKilled) kills += 1
    tally.broken.push(...faults)
  }
  if (kills === 0) tally.broken.push(`${work.name}: nothing was killed`)
  tally.kills += kills
  tally.byWork.set(work.name, kills)
  context.progress(`${work.name}: ${kills} kills, ${Math.round(usual.ms)} ms when it is not killed`)
}

async function fillOften(work: Work, context: RowContext, tally: Tally): Promise<void> {
  if (work.isBesideHub) return
  const { directory, setting } = context
  for (const kib of FREE_KIB.slice(0, COUNTS[setting].fullDisks)) {
    const root = join(directory, `small-${work.name.replaceAll(' ', '-')}-${kib}`)
    const { isDone, faults } = await runOnFullDisk(work, root, kib * 1024)
    if (!isDone) tally.fullDisks += 1
    tally.broken.push(...faults)
  }
  context.progress(`${work.name}: full disks tried`)
}

function choose(works: readonly Work[], count: number, random: RowContext['random']): Work[] {
  if (count >= works.length) return [...works]
  const left = [...works]
  return Array.from({ length: count }, () => {
    const work = pickOne(random, left)
    left.splice(left.indexOf(work), 1)
    return work
  })
}
