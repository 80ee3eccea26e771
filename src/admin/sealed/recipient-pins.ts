// Whom this operator has sealed for before, and what: the hub says whose recipient is which and what a carga holds, and
// a hub that lies is found out by what is remembered here. docs/protocol.md SEA.

import { Type, type Static } from 'typebox'
import { Check } from 'typebox/value'
import { parseJson } from '../../platform/parse-json.ts'

const agentPin = Type.Object({ hostname: Type.String(), fingerprint: Type.String() })
const cargoPin = Type.Object({
  versao: Type.Integer(),
  /** Of the sealed file. */
  sha256: Type.String(),
})
const pinDocument = Type.Object({
  version: Type.Literal(1),
  /** By the agent's id, which it keeps when it enrols again. */
  agentes: Type.Record(Type.String(), agentPin),
  /** Fingerprints of recipients besides agents. */
  escrow: Type.Array(Type.String()),
  /** By the carga's id; files of earlier versions leave this field out. */
  cargas: Type.Optional(Type.Record(Type.String(), cargoPin)),
})

export type AgentPin = Static<typeof agentPin>
export type CargoPin = Static<typeof cargoPin>

export interface RecipientPins {
  /** By the agent's id. */
  readonly agents: ReadonlyMap<string, AgentPin>
  /** Fingerprints. */
  readonly escrow: ReadonlySet<string>
  /** What was sealed last for each, by the carga's id. */
  readonly cargoes: ReadonlyMap<string, CargoPin>
}

export const NO_PINS: RecipientPins = { agents: new Map(), escrow: new Set(), cargoes: new Map() }

/** Undefined when the text has no version that this program knows. */
export function parsePins(text: string): RecipientPins | undefined {
  const document = parseJson(text)
  if (!Check(pinDocument, document)) return undefined
  return {
    agents: new Map(Object.entries(document.agentes)),
    escrow: new Set(document.escrow),
    cargoes: new Map(Object.entries(document.cargas ?? {})),
  }
}

export function renderPins({ agents, escrow, cargoes }: RecipientPins): string {
  const document = {
    version: 1,
    agentes: Object.fromEntries(agents),
    escrow: [...escrow],
    cargas: Object.fromEntries(cargoes),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

/** Where both know an agent or a carga, it is `more` that counts. */
export function addPins(known: RecipientPins, more: RecipientPins): RecipientPins {
  return {
    agents: new Map([...known.agents, ...more.agents]),
    escrow: new Set([...known.escrow, ...more.escrow]),
    cargoes: new Map([...known.cargoes, ...more.cargoes]),
  }
}

export function hasPins({ agents, escrow, cargoes }: RecipientPins): boolean {
  return agents.size > 0 || escrow.size > 0 || cargoes.size > 0
}
