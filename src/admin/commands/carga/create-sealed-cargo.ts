import { UserError } from '../../../platform/errors.ts'
import type { CargaCreateOptions } from './carga-create.ts'
import type { CommandContext } from '../command-context.ts'
import { deliverSealed } from './deliver-sealed.ts'
import { printSealed } from './print-sealed.ts'
import { readContent } from '../../sealed/read-secret.ts'
import {
  describeLeftOut,
  leaveOutAbsent,
  type LeftOut,
  takeAll,
} from '../../sealed/waiting-recipients.ts'
import { OF_CARGO, parseDecidingWhereOption, requireWhere } from '../hosts/where-option.ts'
import { refuseOthers } from '../../sealed/seal-for-agents.ts'
import { parseRecipientOption, parseVouched } from './seal-options.ts'

export async function createSealedCargo(
  context: CommandContext,
  options: CargaCreateOptions,
): Promise<void> {
  const { tipo, nome, file, json } = options
  if (file === undefined) {
    throw new UserError('usage', 'a sealed load needs its file', {
      hint: 'name it by --file, or send it to --file -',
    })
  }
  if (options.san.length > 0)
    throw new UserError('usage', 'a sealed load has no names: leave --san out')
  const vouched = parseVouched(options)
  const escrow = options.escrow.map((text) =>
    parseRecipientOption(
      text,
      '--escrow',
      'age-keygen -pq makes an identity, and shows its recipient',
    ),
  )
  const where = options.where === undefined ? undefined : parseDecidingWhereOption(options.where)
  const asked = { agentes: [...options.agente], roles: [...options.role] }
  let leftOut: readonly LeftOut[] = []
  const source = await context.openSecret(file)
  try {
    const delivered = await deliverSealed(context, {
      cargoId: undefined,
      vouched,
      ownEscrow: escrow,
      askForWhom: async (operations) => {
        const selected = await requireWhere(operations, where, OF_CARGO)
        const wanted = await operations.listRecipients({ ...asked, ...selected })
        if (where === undefined) refuseOthers(wanted.agentes, asked)
        const settled = where === undefined ? takeAll(wanted) : leaveOutAbsent(wanted)
        ;({ leftOut } = settled)
        if (settled.wanted.agentes.length === 0) throw nobody(where)
        return { ...settled.wanted, escrow }
      },
      readContent: (bytesMax) => readContent(source, bytesMax),
      deliver: (operations, selado) =>
        operations.createCargo({
          tipo,
          nome,
          agentes: [],
          roles: [],
          sans: [],
          selado,
          ...(where !== undefined && { where }),
        }),
    })
    for (const each of leftOut) context.note(describeLeftOut(each))
    const news = `load ${delivered.reply.carga_id} created`
    await printSealed(context, delivered, { ...(json && { json }), news })
  } finally {
    await source.close()
  }
}

function nobody(where: string | undefined): UserError {
  const whom =
    where === undefined ? 'nobody' : `no agent that has told a recipient matches ${where}`
  return new UserError('no_recipient', `${whom}: there is nothing to seal for`)
}
