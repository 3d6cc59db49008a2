// Which part of two pictures (data URLs) differs: of cells of so many pixels those whose mean colours lie further apart than `most` of a colour's range.
async ([one, other, cell, most]) => {
  const means = async (picture) => {
    const image = await createImageBitmap(await (await fetch(picture)).blob());
    const columns = Math.ceil(image.width / cell), rows = Math.ceil(image.height / cell);
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    const cells = Array.from({ length: columns * rows }, () => ({ count: 0, sums: [0, 0, 0] }));
    for (let y = 0; y < image.height; y += 1) {
      for (let x = 0; x < image.width; x += 1) {
        const found = cells[Math.floor(y / cell) * columns + Math.floor(x / cell)], pixel = (y * image.width + x) * 4;
        found.count += 1;
        found.sums = found.sums.map((sum, colour) => sum + data[pixel + colour]);
      }
    }
    return { size: `${image.width}x${image.height}`, colours: cells.map(({ count, sums }) => sums.map((sum) => sum / count / 255)) };
  };
  const left = await means(one), right = await means(other);
  if (left.size !== right.size) return { size: `${left.size}, now ${right.size}`, part: 1 };
  const differ = left.colours.filter((colours, place) => colours.some((value, index) => Math.abs(value - right.colours[place][index]) > most));
  return { size: left.size, part: differ.length / left.colours.length };
}
