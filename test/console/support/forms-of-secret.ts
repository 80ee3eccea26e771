/** Plain, and in base64 at each of its three places in a group. */
export function formsOf(secret: string): readonly string[] {
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.from('x'.repeat(shift) + secret)
      .toString('base64')
      .slice(4, -4),
  )
  return [secret, encodeURIComponent(secret), ...shifted]
}
