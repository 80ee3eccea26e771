// A sealed file on its way to a fleet: from the reply of `carga create` until each agent has fetched it, on a connection
// of its own. Beside it a bare node:https server hands out as many bytes in the same way.

import { randomBytes } from 'node:crypto'
import { UserError } from '../src/platform/errors.ts'
import { fingerprintOf, generateAgeIdentity, recipientOf } from '../src/sealing/age-identity.ts'
import { sealFor } from '../src/sealing/sealed-file.ts'
import { operationsOf } from './agent.ts'
import { forgetResidentPeak, residentMegabytes, residentPeakMegabytes } from './daemon.ts'
import type { Measurement } from './load-generator.ts'
import type { Row } from './row.ts'
import { startBareServer } from './yardsticks.ts'

const AGENTS = 100
const CONTENT_BYTES = 1024 * 1024
/** Far more than they take: each agent fetches it once. */
const SECONDS_MAX = 60

export const startSealedBlob: Row['start'] = async (world) => {
  const { load, hub, mtlsAddress } = world
  // One for all of them: opening it is no part of what is measured.
  const recipient = await recipientOf(await generateAgeIdentity())
  await load.send({ do: 'enroll-agents', count: AGENTS, recipient })
  const operations = await operationsOf(world)
  const { agentes } = await operations.listRecipients({ agentes: [], roles: ['bench'] })
  const file = await sealFor(
    agentes.map(() => recipient),
    randomBytes(CONTENT_BYTES),
  )
  const selado = {
    conteudo: Buffer.from(file).toString('base64'),
    destinatarios: agentes.map(({ id }) => ({ agente: id, fingerprint: fingerprintOf(recipient) })),
    escrow: [],
  }
  const bare = await startBareServer(world, { blobBytes: file.length })
  let number = 0
  const createCargo = async (): Promise<string> => {
    number += 1
    const cargo = {
      tipo: 'selado' as const,
      nome: `blob-${number}`,
      agentes: [],
      roles: [],
      sans: [],
    }
    return (await operations.createCargo({ ...cargo, selado })).carga_id
  }
  const measure = async (pid: number, address: string, id: string): Promise<Measurement> => {
    const options = { seconds: SECONDS_MAX, address, path: `/v1/blobs/${id}`, pids: [pid] }
    const measurement = await load.measure('blob', options)
    if (measurement.count !== AGENTS) throw new UserError('bench', 'not every agent got the blob')
    return measurement
  }
  const residentBefore = await residentMegabytes(hub.pid)
  await forgetResidentPeak(hub.pid)
  let id = ''
  return {
    sides: [
      {
        name: 'hub',
        prepare: async () => {
          id = await createCargo()
        },
        measure: () => measure(hub.pid, mtlsAddress, id),
      },
      { name: bare.name, measure: () => measure(bare.pid, bare.address, 'any') },
    ],
    figures: [
      { what: 'sealed blob of 1 MiB, 100 agents at once', by: bare.name, aim: { atMost: 2 } },
    ],
    describe: async () => {
      const peak = await residentPeakMegabytes(hub.pid)
      return `hub resident ${residentBefore.toFixed(0)}, at most ${peak.toFixed(0)} MB`
    },
    [Symbol.asyncDispose]: () => bare[Symbol.asyncDispose](),
  }
}
