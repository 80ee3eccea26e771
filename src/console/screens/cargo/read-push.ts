// A text file for one host, before it is sent: what the hub would refuse for its size or its bytes is refused here.

/** Of docs/protocol.md PSH-22. */
export const PUSH_BYTES_MAX = 16 * 1024

export type ReadFile =
  | { readonly ok: true; readonly text: string; readonly bytes: number }
  | { readonly ok: false; readonly why: 'large' | 'not_text'; readonly bytes: number }

export async function readPush(file: Blob): Promise<ReadFile> {
  const { size: bytes } = file
  if (bytes > PUSH_BYTES_MAX) return { ok: false, why: 'large', bytes }
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return { ok: true, text: decoder.decode(await file.arrayBuffer()), bytes }
  } catch {
    return { ok: false, why: 'not_text', bytes }
  }
}
