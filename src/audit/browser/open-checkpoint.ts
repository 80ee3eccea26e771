// Checkpoints as c2sp.org/tlog-checkpoint and c2sp.org/signed-note have them.

import { encode, fromBase64, join, sha256, toHex } from './bytes.ts'
import { ExportFault } from './export-fault.ts'

export interface Signer {
  readonly name: string
  /** Hex. */
  readonly keyHash: string
  readonly publicKey: Awaited<ReturnType<typeof crypto.subtle.importKey>>
}

export async function readKey(key: string): Promise<Signer> {
  const [name = '', keyHash = '', ...rest] = key.split('+')
  const typed = fromBase64(rest.join('+'))
  if (name === '' || /\s/u.test(name) || typed?.length !== 33 || typed[0] !== 1) {
    throw new ExportFault('this is not the key of a log')
  }
  const made = await sha256(join(encode(`${name}\n`), typed))
  if (toHex(made.subarray(0, 4)) !== keyHash) throw new ExportFault('this is not the key of a log')
  const publicKey = await crypto.subtle.importKey('raw', typed.subarray(1), 'Ed25519', false, [
    'verify',
  ])
  return { name, keyHash, publicKey }
}

/** Signatures of others are left aside. */
export async function openCheckpoint(
  note: string,
  { name, keyHash, publicKey }: Signer,
): Promise<{ readonly size: number; readonly root: string }> {
  const split = note.lastIndexOf('\n\n')
  const text = note.slice(0, split + 1)
  let isSigned = false
  for (const line of split < 0 || !note.endsWith('\n')
    ? ['']
    : note.slice(split + 2, -1).split('\n')) {
    const [dash, signer, base64 = '', ...more] = line.split(' ')
    const signature = fromBase64(base64)
    if (dash !== '—' || signature === undefined || signature.length < 5 || more.length > 0) {
      throw new ExportFault('the checkpoint is no signed note')
    }
    if (signer !== name || toHex(signature.subarray(0, 4)) !== keyHash) continue
    isSigned = await crypto.subtle.verify('Ed25519', publicKey, signature.subarray(4), encode(text))
    if (!isSigned) break
  }
  const [origin, size = '', root = '', end] = text.split('\n')
  const isCheckpoint = origin === name && end !== undefined && /^(?:0|[1-9][0-9]{0,15})$/.test(size)
  if (
    !isSigned ||
    !isCheckpoint ||
    !Number.isSafeInteger(Number(size)) ||
    fromBase64(root)?.length !== 32
  ) {
    throw new ExportFault('the checkpoint is not signed with this key')
  }
  return { size: Number(size), root }
}
