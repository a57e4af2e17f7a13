/** The index of the first item for which this is true, as it is for all after it; the length if there is none. Takes log2 n looks. */
export function findFirst<Item>(sorted: ArrayLike<Item>, isTrue: (item: Item) => boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isTrue(sorted[middle] as Item)) high = middle;
    else low = middle + 1;
  }
  return low;
}
