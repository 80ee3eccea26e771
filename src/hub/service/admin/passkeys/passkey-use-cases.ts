// Passkeys: made for the session that asks, listed, removed; and what one of them has to sign for a confirmation.

import { hash } from 'node:crypto'
import { type AdminPasskey, CHALLENGE_SECONDS } from '../../../../protocol/admin/passkeys.ts'
import { HubEventType } from '../../../../protocol/words.ts'
import {
  decideRegistration,
  nextChallengeAt,
  type Passkey,
  passkeyIdOf,
  type PasskeyOwner,
  PASSKEYS_PER_OWNER_MAX,
  type RegistrationState,
} from '../../../domain/passkey.ts'
import { personKeyOf } from '../../../domain/access-token.ts'
import type { StoreReader } from '../../../store/store.ts'
import {
  type AdminAct,
  type AdminAsker,
  AdminRefusal,
  type Course,
  type Read,
  type Write,
} from '../../admin-act.ts'
import { pageOf, readPage } from '../../read-page.ts'
import type { AdminContext, UseCases } from '../admin-context.ts'
import { findTokenByHash } from '../find-access-token.ts'
import { findOwner, type OwningSession, requireOwner } from './find-owner.ts'
import { PASSKEY_ALGORITHMS } from './public-key.ts'
import { readChallenge } from './read-challenge.ts'
import { verifyRegistration } from './webauthn.ts'

type Context = Pick<AdminContext, 'clock' | 'confirmations' | 'store'>

const TIMEOUT_MS = CHALLENGE_SECONDS * 1000
const PARTY_NAME = 'Cartorio'

const prepareConfirmation: Read<'prepareConfirmation', Context> = async (
  reader,
  { request_sha256: requestSha256 },
  context,
) => {
  const { session, passkeys, confirmations } = await requireOwner(reader, context)
  if (passkeys.length === 0) {
    throw new AdminRefusal('passkey_missing', 'no passkey is registered to confirm by')
  }
  const now = context.clock.now()
  const subject = { session: session.cookieHash, requestSha256 }
  const { party, challenges } = confirmations
  return {
    options: {
      challenge: challenges.make(subject, nextChallengeAt(passkeys, now), now),
      rpId: party.id,
      timeout: TIMEOUT_MS,
      userVerification: 'required',
      allowCredentials: passkeys.map(describeCredential),
    },
  }
}

const preparePasskey: Read<'preparePasskey', Context> = async (reader, _request, context) => {
  const owner = await requireOwner(reader, context)
  const now = context.clock.now()
  refuseRegistration(owner, now)
  const { session, token, passkeys, confirmations } = owner
  const { name } = token
  const { party, challenges } = confirmations
  const subject = { session: session.cookieHash, requestSha256: undefined }
  return {
    options: {
      challenge: challenges.make(subject, now, now),
      rp: { id: party.id, name: PARTY_NAME },
      user: { id: userHandleOf(party.id, token), name, displayName: name },
      pubKeyCredParams: PASSKEY_ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      timeout: TIMEOUT_MS,
      attestation: 'none',
      excludeCredentials: passkeys.map(describeCredential),
      authenticatorSelection: {
        residentKey: 'preferred',
        requireResidentKey: false,
        userVerification: 'required',
      },
    },
  }
}

/** What the authenticator made is verified before the commit, which waits for nothing. */
const registerPasskey: Course<'registerPasskey', Context> = {
  run: async (turn, { label, credential }, context) => {
    const { session, token, confirmations } = await requireOwner(context.store.reader, context)
    const now = context.clock.now()
    const challenge = readChallenge(credential.response.clientDataJSON, 'webauthn.create')
    const subject = { session: session.cookieHash, requestSha256: undefined }
    const opened = confirmations.challenges.open(challenge, subject, now)
    if ('fault' in opened) throw invalid(opened.fault)
    const { party } = confirmations
    const made = await verifyRegistration(credential, { challenge, party })
    if ('fault' in made) throw invalid(made.fault)
    const passkey: Passkey = {
      ...made,
      name: token.name,
      person: token.person,
      label,
      transports: credential.response.transports ?? [],
      challengedAt: now,
      createdAt: now,
      lastUsedAt: null,
    }
    return turn.commit(async (writer) => {
      if ((await writer.passkeys.find(passkey.credentialId)) !== undefined) {
        throw new AdminRefusal('passkey_exists', 'this passkey is registered already')
      }
      // Looked at again: of two first ones that come at once, one is not the first.
      const owner = { session, passkeys: await writer.passkeys.listOf(token) }
      refuseRegistration(owner, now, turn.rehearse === undefined ? context : undefined)
      await writer.passkeys.insert(passkey)
      return {
        acts: [{ type: HubEventType.passkeyRegistered, payload: describePasskey(passkey) }],
        reply: toAdminPasskey(passkey),
      }
    })
  },
}

const listPasskeys: Read<'listPasskeys', Context> = async (reader, request, context) => {
  const { rows, next } = await readPage(
    request,
    async (page) =>
      pageOf((await listSeen(reader, request.name, context)).map(toAdminPasskey), page),
    (passkey) => passkey,
  )
  return { passkeys: rows, next, registration: await findRegistration(reader, context) }
}

/** The own ones; role admin sees all. Under the own name nobody is shown those of another owner of it. */
async function listSeen(
  reader: StoreReader,
  name: string | undefined,
  { token, role }: AdminAsker,
): Promise<readonly Passkey[]> {
  const own = token && (await findTokenByHash(reader, token))
  const isOwn = own !== undefined && (name === undefined ? role !== 'admin' : name === own.name)
  if (isOwn) return reader.passkeys.listOf(own)
  if (role !== 'admin') return []
  return name === undefined ? reader.passkeys.list() : listNamed(reader, name)
}

/** Of anybody who was called so when it was registered. */
async function listNamed({ passkeys }: StoreReader, name: string): Promise<readonly Passkey[]> {
  return (await passkeys.list()).filter((passkey) => passkey.name === name)
}

async function findRegistration(
  reader: StoreReader,
  { clock, confirmations, session }: Context & AdminAsker,
): Promise<RegistrationState> {
  const owner = confirmations && (await findOwner(reader, session))
  if (owner === undefined) return 'off'
  return decideRegistration(owner.passkeys, owner.session.startedAt, clock.now())
}

const removePasskeys: Write<'removePasskeys', Context> = async (
  writer,
  { name, passkey: wanted },
  context,
) => {
  const owner = await findOwner(writer, context.session)
  const isSeen = owner === undefined ? context.role === 'admin' : owner.token.name === name
  const all = isSeen ? (owner?.passkeys ?? (await listNamed(writer, name))) : []
  const gone = all.filter((each) => wanted === undefined || passkeyIdOf(each) === wanted)
  if (gone.length === 0) {
    throw new AdminRefusal(
      'passkey_not_found',
      `${name} has no passkey${wanted === undefined ? '' : ` ${wanted}`}`,
    )
  }
  for (const { credentialId } of gone) await writer.passkeys.remove(credentialId)
  return {
    acts: gone.map((passkey): AdminAct => ({
      type: HubEventType.passkeyRemoved,
      payload: describePasskey(passkey),
    })),
    reply: { passkeys: gone.map(toAdminPasskey) },
  }
}

export const PASSKEY_USE_CASES: Pick<
  UseCases,
  'prepareConfirmation' | 'preparePasskey' | 'registerPasskey' | 'listPasskeys' | 'removePasskeys'
> = { prepareConfirmation, preparePasskey, registerPasskey, listPasskeys, removePasskeys }

/** `confirmed` is for who knows whether one that is there has confirmed it. */
function refuseRegistration(
  { session, passkeys }: Pick<OwningSession, 'session' | 'passkeys'>,
  now: Date,
  confirmed?: Pick<AdminAsker, 'confirmedBy'>,
): void {
  const state = decideRegistration(passkeys, session.startedAt, now)
  if (state === 'full') {
    throw new AdminRefusal(
      'passkeys_too_many',
      `a person has ${PASSKEYS_PER_OWNER_MAX} passkeys at most`,
    )
  }
  const isUnconfirmed =
    state === 'confirmed' && confirmed !== undefined && confirmed.confirmedBy === undefined
  if (state === 'late' || isUnconfirmed) {
    throw new AdminRefusal(
      'passkey_late',
      'the first passkey is registered within 5 minutes after signing in, and only the first without another one',
    )
  }
}

function invalid(fault: string): AdminRefusal {
  return new AdminRefusal('passkey_invalid', `not the passkey that was asked for: ${fault}`)
}

function describeCredential({ credentialId, transports }: Passkey): object {
  return { type: 'public-key', id: credentialId, transports }
}

/** One for each owner: an authenticator keeps one passkey of it, and a second one takes the place of the first there. */
function userHandleOf(partyId: string, { name, person }: PasskeyOwner): string {
  const owner = person === null ? name : personKeyOf(person)
  return hash('sha256', `${partyId}\n${owner}`, 'base64url')
}

/** What entries say of it. */
function describePasskey(passkey: Passkey): Readonly<Record<string, string>> {
  return { passkey_id: passkeyIdOf(passkey), name: passkey.name, label: passkey.label }
}

function toAdminPasskey(passkey: Passkey): AdminPasskey {
  return {
    id: passkeyIdOf(passkey),
    name: passkey.name,
    label: passkey.label,
    created_at: passkey.createdAt.toISOString(),
    last_used_at: passkey.lastUsedAt?.toISOString() ?? null,
  }
}
