/**
 * Gives back at once the memory of bytes that nobody needs any more. V8 counts what buffers take outside of its heap until a collection
 * finds them gone; megabytes of that a second make it collect all of the heap again and again.
 */
export function discardBytes(bytes: Buffer): void {
  const { buffer } = bytes
  // Small buffers share their memory with others.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length) buffer.transfer(0)
}

/** For a reader that has done with a piece when it asks for the next one. */
export async function* discardTaken(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  for await (const piece of pieces) {
    yield piece
    discardBytes(piece)
  }
}
