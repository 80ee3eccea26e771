// The lines of evidence, oldest entry first, in bounded memory but for the certificates themselves: docs/protocol.md EVD-4 to EVD-9.

import { BLOCK_ENTRIES, verifyBlock } from '../../../audit/block-proofs.ts'
import { hashRecord, parseRecord } from '../../../audit/record.ts'
import { CertificateLedger } from '../../../evidence/certificate-ledger.ts'
import {
  formatAbsent,
  formatBlock,
  formatCaSerial,
  formatCertificate,
  formatEnd,
  formatHead,
  formatLost,
  formatRecordLine,
} from '../../../evidence/evidence-lines.ts'
import { plainSerial } from '../../../evidence/serial-number.ts'
import { SvcError, UserError } from '../../../platform/errors.ts'
import { PROVEN_BLOCKS_MAX } from '../../../protocol/admin/bounds.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { Progress } from '../../terminal/progress.ts'
import type { EvidencePlan } from './plan-evidence.ts'
import { type CarriedEntry, carriedEntries } from './carried-entries.ts'

/** Each takes about a kilobyte of memory until the end. */
const CERTIFICATES_MAX = 1_000_000
/** Of the list of the CA, of which each line alone would cost ten times as much. */
const LINES_A_PIECE = 1000

export async function* evidenceLines(
  operations: Pick<AdminOperations, 'listRecords' | 'listEntries' | 'showBlockProofs'>,
  plan: EvidencePlan,
  progress: Progress,
  certificatesMax: number = CERTIFICATES_MAX,
): AsyncGenerator<string> {
  const { head, serials } = plan
  yield formatHead(head)
  const ledger = new CertificateLedger(head.after, head.until)
  let [entries, absent] = [0, 0]
  for await (const page of pagesOf(carriedEntries(operations, plan))) {
    yield await provenPage(operations, plan, page, ledger)
    for (const one of page) {
      if ('absent' in one) absent += one.absent.until - one.absent.after
      else entries += 1
    }
    refuseTooMany(ledger, certificatesMax)
    progress.show(`writing evidence: ${entries} entries`)
  }
  let missing = 0
  for (const claims of ledger.certificates) {
    const ca = serials === undefined ? null : serials.has(plainSerial(claims.serial ?? ''))
    if (ca === false) missing += 1
    yield formatCertificate({ ...claims, ca })
  }
  for (const lost of ledger.answersLost) yield formatLost(lost)
  let rogue = 0
  let lines: string[] = []
  for (const serial of serials ?? []) {
    const seq = ledger.seqsBySerial.get(serial) ?? null
    if (seq === null) rogue += 1
    lines.push(formatCaSerial(serial, seq))
    if (lines.length < LINES_A_PIECE) continue
    yield lines.join('')
    lines = []
  }
  yield lines.join('')
  const certificates = ledger.certificates.length
  const caSerials = serials?.size ?? 0
  const lost = ledger.answersLost.length
  yield formatEnd({ entries, certificates, lost, ca_serials: caSerials, rogue, missing, absent })
}

/** As many as the hub proves at once. */
async function* pagesOf(carried: AsyncIterable<CarriedEntry>): AsyncGenerator<CarriedEntry[]> {
  let page: CarriedEntry[] = []
  let blocks = 0
  let last: number | undefined
  for await (const one of carried) {
    const block = blockOf(one)
    if (block !== undefined && block !== last) {
      if (blocks === PROVEN_BLOCKS_MAX) {
        yield page
        page = []
        blocks = 0
      }
      blocks += 1
      last = block
    }
    page.push(one)
  }
  if (page.length > 0) yield page
}

function blockOf(one: CarriedEntry): number | undefined {
  return 'absent' in one ? undefined : Math.floor((one.seq - 1) / BLOCK_ENTRIES)
}

async function provenPage(
  { showBlockProofs }: Pick<AdminOperations, 'showBlockProofs'>,
  { checkpoint }: EvidencePlan,
  page: readonly CarriedEntry[],
  ledger: CertificateLedger,
): Promise<string> {
  const blocks = [...new Set(page.map(blockOf).filter((block) => block !== undefined))]
  const proofs = await askForProofs(showBlockProofs, checkpoint.size, blocks)
  const lines: string[] = []
  let current: number | undefined
  let leaves: readonly Buffer[] = []
  for (const one of page) {
    if ('absent' in one) {
      lines.push(formatAbsent(one.absent))
      continue
    }
    const block = blockOf(one) ?? 0
    if (block !== current) {
      const proven = proofs[blocks.indexOf(block)] ?? { leaves: [], proof: [] }
      leaves = fromBase64(proven.leaves)
      if (!verifyBlock(block, { leaves, proof: fromBase64(proven.proof) }, checkpoint)) {
        throw notAsSigned(one.seq)
      }
      lines.push(formatBlock({ block, ...proven }))
      current = block
    }
    const leaf = leaves[(one.seq - 1) % BLOCK_ENTRIES]
    const entry = parseRecord(one.record)
    if (entry === undefined || leaf?.equals(hashRecord(one.record)) !== true) {
      throw notAsSigned(one.seq)
    }
    ledger.add(entry)
    lines.push(formatRecordLine(one.record))
  }
  return lines.join('')
}

async function askForProofs(
  showBlockProofs: AdminOperations['showBlockProofs'],
  entries: number,
  blocks: number[],
) {
  if (blocks.length === 0) return []
  try {
    return (await showBlockProofs({ entries, blocks })).blocks
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'route_not_found') throw error
    throw new UserError('hub_too_old', 'this hub is older than this svc: it proves no entries', {
      hint: 'upgrade the hub; nothing was done',
    })
  }
}

function refuseTooMany({ certificates, answersLost }: CertificateLedger, max: number): void {
  if (certificates.length + answersLost.length <= max) return
  throw new UserError('evidence_too_large', `the period has more than ${max} certificates`, {
    hint: 'choose a shorter period, and make several files',
  })
}

function notAsSigned(seq: number): SvcError {
  return new SvcError(
    'log_rewritten',
    `entry ${seq} of the hub is not the one that its checkpoint was signed for`,
    { hint: 'svc event list --verify shows more; compare with a backup' },
  )
}

function fromBase64(hashes: readonly string[]): Buffer[] {
  return hashes.map((hash) => Buffer.from(hash, 'base64'))
}
