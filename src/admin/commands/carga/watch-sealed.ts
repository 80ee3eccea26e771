// `svc carga reseal --watch`: seals a carga again whenever a host waits for it that this machine may seal for. What goes wrong is
// told once, and tried again. docs/protocol.md SEA-16.

import { describeError, UserError } from '../../../platform/errors.ts'
import type { AdminRecipients } from '../../../protocol/admin/views.ts'
import { parseRecipient } from '../../../protocol/identifiers.ts'
import { fingerprintOf } from '../../../sealing/age-identity.ts'
import type { Vouched } from '../../../sealing/recipients/judge-recipients.ts'
import type { RecipientPins } from '../../../sealing/recipients/recipient-pins.ts'
import { describeLeftOut, leaveOutStrange } from '../../sealed/waiting-recipients.ts'
import type { CommandContext } from '../command-context.ts'
import { deliverNext, type NextContent, type SealedUpdate } from './update-sealed-cargo.ts'

/** Nobody waits that svc may seal for: nothing is sealed. */
class NobodyWaits extends Error {
  override name = 'NobodyWaits'
}

export interface SealedWatch extends SealedUpdate {
  readonly everyMs: number
}

/** Until the program ends. */
export async function watchSealed(
  context: CommandContext,
  watch: SealedWatch,
  content: NextContent,
): Promise<never> {
  const tell = tellOnce(context.note)
  const basis: Basis = { versao: content.isReadOnce ? await readVersao(context, watch) : undefined }
  for (let round = 0; ; round += 1) {
    try {
      await sealForWaiting(context, { ...watch, basis }, content, tell)
      tell.forgetFailure()
    } catch (error) {
      // What is wrong from the start is for the caller to mend.
      if (round === 0) throw error
      tell.failure(error)
    }
    await context.clock.sleep(watch.everyMs)
  }
}

/** A content that was read once is sealed only while the hub has the versao that svc began with, or made last. */
interface Basis {
  versao: number | undefined
}

async function readVersao(context: CommandContext, { id }: SealedWatch): Promise<number> {
  const { versao } = await context.withAdmin(({ operations }) =>
    operations.showCargo({ carga: id }),
  )
  return versao
}

async function sealForWaiting(
  context: CommandContext,
  watch: SealedWatch & { readonly basis: Basis },
  content: NextContent,
  tell: Teller,
): Promise<void> {
  const asked = { carga: watch.id, agentes: [], roles: [] }
  const named = await context.withAdmin(({ operations }) => operations.listRecipients(asked))
  if (!named.agentes.some(({ waits }) => waits)) return tell.waiting([])
  let newcomers: readonly string[] = []
  const choose = (now: AdminRecipients, known: RecipientPins): AdminRecipients => {
    const { wanted, leftOut } = leaveOutStrange(now, known, watch.vouched)
    tell.waiting(leftOut.map(describeLeftOut))
    newcomers = wanted.agentes.filter(({ waits }) => waits).map(({ hostname }) => hostname)
    if (newcomers.length === 0) throw new NobodyWaits()
    return wanted
  }
  try {
    // Who vouches for a host that is yet to come does so in each round.
    const { versao } = watch.basis
    const update = { ...watch, versao, vouched: keepPresent(watch.vouched, named) }
    const { reply, notKept } = await deliverNext(context, update, content, choose)
    if (content.isReadOnce) watch.basis.versao = reply.versao
    const news = `load ${reply.carga_id} is now version ${reply.versao}, sealed for ${reply.destinatarios.length} agents`
    if (watch.json) await context.output.writeJson(reply)
    else await context.output.write(`${news}, for the first time for ${newcomers.join(', ')}\n`)
    if (notKept !== undefined) throw notKept
  } catch (error) {
    if (!(error instanceof NobodyWaits)) throw content.isReadOnce ? withHint(error) : error
  }
}

function withHint(error: unknown): unknown {
  if (!(error instanceof UserError) || error.code !== 'versao_changed') return error
  const hint = 'start svc again with the content that it has now'
  return new UserError(error.code, error.message, { hint })
}

function keepPresent({ fingerprints, recipients }: Vouched, named: AdminRecipients): Vouched {
  const texts = new Set([...named.agentes.map(({ recipient }) => recipient), ...named.escrow])
  const present = [...texts].flatMap((text) => parseRecipient(text ?? '') ?? [])
  const known = new Set(present.map(fingerprintOf))
  return {
    fingerprints: new Set([...fingerprints].filter((each) => known.has(each))),
    recipients: recipients.filter((each) => texts.has(each)),
  }
}

interface Teller {
  waiting(lines: readonly string[]): void
  failure(error: unknown): void
  forgetFailure(): void
}

/** No line twice in a row of rounds that say the same. */
function tellOnce(note: CommandContext['note']): Teller {
  let told = new Set<string>()
  let failed: string | undefined
  return {
    waiting: (lines) => {
      for (const line of lines) if (!told.has(line)) note(line)
      told = new Set(lines)
    },
    failure: (error) => {
      const hint = error instanceof UserError && error.hint !== undefined ? `; ${error.hint}` : ''
      const line = `not sealed: ${describeError(error)}${hint}; svc tries again`
      if (line !== failed) note(line)
      failed = line
    },
    forgetFailure: () => {
      failed = undefined
    },
  }
}
