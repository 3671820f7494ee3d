#include "pack.h"

#include <endian.h>

/* The checksum of a zlib stream (RFC 1950, 8.2). */

/* PRIME: the largest prime below 2^16. MOST_STEPS: number of steps of STEP bytes after which the sums still
 * fit into 32 bits. */
enum { PRIME = 65521, STEP = 32, MOST_STEPS = 5552 / STEP };

/* EVERY_SECOND selects every second byte of a word, each widened to 16 bits. A multiplication by one of the
 * other constants adds these four, with weights, in its highest 16 bits. */
#define EVERY_SECOND UINT64_C(0x00ff00ff00ff00ff)
#define ONCE         UINT64_C(0x0001000100010001)
#define BY_8642      UINT64_C(0x0008000600040002)
#define BY_7531      UINT64_C(0x0007000500030001)

static uint32_t sum_of(uint64_t four, uint64_t factors) { return (uint32_t)(four * factors >> 48); }

/* Adds `steps` steps of STEP bytes to the two sums of a checksum, and returns the place behind these bytes.
 * `low` is the sum of all bytes, `high` the sum of the values that `low` had after each byte. A step adds
 * words of eight bytes: the bytes of a word count 8 to 1 times, and 8 times more for each word after it. */
static const unsigned char *add_steps(const unsigned char *at, size_t steps, uint32_t *low, uint32_t *high)
{
    for (; steps > 0; steps--, at += STEP) {
        uint64_t even = 0, odd = 0, before = 0;
        for (int i = 0; i < STEP; i += 8) {
            uint64_t word;
            /* Uses the builtin, because the library is compiled without builtins and memcpy would be a
             * call. */
            __builtin_memcpy(&word, at + i, sizeof word);
            word = le64toh(word);
            before += even + odd;
            even += word & EVERY_SECOND;
            odd += word >> 8 & EVERY_SECOND;
        }
        *high += STEP * *low + 8 * sum_of(before, ONCE) + sum_of(even, BY_8642) + sum_of(odd, BY_7531);
        *low += sum_of(even + odd, ONCE);
    }
    *low %= PRIME;
    *high %= PRIME;
    return at;
}

/* Returns the checksum of `count` bytes that follow bytes with the checksum `checksum` (1 if there are
 * none). */
static uint32_t adler(uint32_t checksum, const unsigned char *bytes, size_t count)
{
    uint32_t low = checksum & 0xffff, high = checksum >> 16;
    for (size_t steps = count / STEP; steps > 0;) {
        size_t now = steps < MOST_STEPS ? steps : MOST_STEPS;
        bytes = add_steps(bytes, now, &low, &high);
        steps -= now;
    }
    for (size_t i = 0; i < count % STEP; i++) {
        low += bytes[i];
        high += low;
    }
    return (high % PRIME) << 16 | low % PRIME;
}

enum {
    WORD = sizeof(uint64_t),
    SHORTEST = 3, /* Length of the shortest match. */
    LONGEST = 258,
    FIRST_LENGTH = 257,
    LAST_LENGTH = 285,
    LITERALS = 256,
    LENGTHS = LONGEST + 1,
    HASHED = 4, /* Least length of a match that was found by a hash, in bytes. */
    HASH_BITS = 12,
    STORED = 16, /* Number of positions at the end of a match that are added to the hash table. */
    WINDOW = 1 << 15,
    LARGEST_LITERAL_BITS = 9,
    /* Maximum number of bytes beside the data: header, end of block, checksum, pending bits. */
    MOST_OTHER = 32
};

/* Tables for all streams. Positions are counted over all streams, modulo 2^16. A position in an earlier
 * stream is mostly too far back for a match; otherwise the comparison of the bytes decides. */
static struct {
    struct pack_code literal[LITERALS], length[LENGTHS];
    uint16_t next;                   /* Position of the next byte. */
    uint16_t latest[1 << HASH_BITS]; /* Position of the latest four bytes with each hash. */
} iolens_pack;

bool pack_takes(size_t row_bytes)
{
    const uint16_t one = 1;
    return row_bytes > 0 && row_bytes % WORD == 0 && row_bytes <= PACK_LONGEST_ROW &&
           *(const char *)&one == 1;
}

/* Returns the `count` lowest bits, at most nine, in reverse order, because Huffman codes are written with
 * their highest bit first. The multiplications reverse eight bits: the first makes copies of the byte, from
 * which the mask takes each bit at its new place, and the second adds these up (Anderson, Bit Twiddling
 * Hacks). */
static struct pack_code reversed(uint32_t bits, int count)
{
    uint64_t places = (bits & 0xff) * UINT64_C(0x80200802) & UINT64_C(0x0884422110);
    uint32_t eight = (uint32_t)(places * UINT64_C(0x0101010101) >> 32) & 0xff;
    return (struct pack_code){(eight << 1 | (bits >> 8 & 1)) >> (9 - count), count};
}

/* Returns the fixed code of a literal (up to 255), the end (256) or a length (RFC 1951, 3.2.6). */
static struct pack_code symbol(unsigned value)
{
    if (value < 144)
        return reversed(0x30 + value, 8);
    if (value < 256)
        return reversed(0x190 + value - 144, 9);
    if (value < 280)
        return reversed(value - 256, 7);
    return reversed(0xc0 + value - 280, 8);
}

static struct pack_code with_extra(struct pack_code code, uint32_t extra, int count)
{
    return (struct pack_code){code.bits | extra << code.count, code.count + count};
}

/* Makes the tables of codes. Lengths 3 to 258 have symbols 257 to 285, and four symbols share a number of
 * extra bits (RFC 1951, 3.2.5). */
static void make_codes(void)
{
    for (unsigned i = 0; i < LITERALS; i++)
        iolens_pack.literal[i] = symbol(i);

    int length = SHORTEST;
    for (int value = FIRST_LENGTH; value < LAST_LENGTH; value++) {
        int extra = value < 265 ? 0 : (value - 261) / 4;
        for (uint32_t i = 0; i < 1u << extra; i++)
            iolens_pack.length[length++] = with_extra(symbol((unsigned)value), i, extra);
    }
    iolens_pack.length[LONGEST] = symbol(LAST_LENGTH);
}

/* Returns the code of a distance. Two symbols share a number of extra bits (RFC 1951, 3.2.5). */
static struct pack_code make_distance(uint32_t distance)
{
    uint32_t rest = distance - 1;
    if (rest < 4)
        return with_extra(reversed(rest, 5), 0, 0);
    int extra = 30 - __builtin_clz(rest); /* The two highest bits of `rest` choose the symbol. */
    unsigned value = 2 * (unsigned)extra + (rest >> extra);
    return with_extra(reversed(value, 5), rest & ((1u << extra) - 1), extra);
}

static inline void put(struct packer *packer, struct pack_code code)
{
    packer->bits |= (uint64_t)code.bits << packer->bit_count;
    packer->bit_count += code.count;
    if (packer->bit_count >= 32) {
        uint32_t word = htole32((uint32_t)packer->bits);
        /* This file is compiled without builtins, so a plain memcpy would be a function call. */
        __builtin_memcpy(packer->next, &word, sizeof word);
        packer->next += 4;
        packer->bits >>= 32;
        packer->bit_count -= 32;
    }
}

static void put_literals(struct packer *packer, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(packer, iolens_pack.literal[bytes[i]]);
}

/* Encodes `count` bytes that equal those of the previous row: matches, and literals for a short rest. */
static void put_same(struct packer *packer, const unsigned char *bytes, size_t count)
{
    while (count >= SHORTEST) {
        size_t piece = count <= LONGEST ? count : count < LONGEST + SHORTEST ? count - SHORTEST : LONGEST;
        put(packer, iolens_pack.length[piece]);
        put(packer, packer->distance);
        bytes += piece;
        count -= piece;
    }
    put_literals(packer, bytes, count);
}

/* Compares with the previous row word by word. In a word that differs, the bytes from the first to the last
 * different one become literals. */
static void put_words(struct packer *packer, const unsigned char *bytes, size_t count)
{
    size_t same = 0, ring = packer->row_bytes / WORD, at = packer->packed / WORD % ring;
    for (size_t i = 0; i < count; i += WORD) {
        uint64_t word, before = packer->history[at];
        __builtin_memcpy(&word, bytes + i, WORD);
        packer->history[at] = word;
        at = at + 1 == ring ? 0 : at + 1;
        bool first_row = packer->packed + i < packer->row_bytes;
        if (word == before && !first_row)
            continue;
        uint64_t difference = first_row ? ~UINT64_C(0) : word ^ before;
        size_t begin = i + (size_t)__builtin_ctzll(difference) / 8;
        size_t end = i + WORD - (size_t)__builtin_clzll(difference) / 8;
        put_same(packer, bytes + same, begin - same);
        put_literals(packer, bytes + begin, end - begin);
        same = end;
    }
    put_same(packer, bytes + same, count - same);
}

/* Stores the position of the next four bytes, and returns the distance to the previous position of four bytes
 * with the same hash. */
static uint16_t look_back(const unsigned char *bytes, uint16_t place)
{
    uint32_t four;
    __builtin_memcpy(&four, bytes, sizeof four);
    uint16_t *latest = &iolens_pack.latest[four * UINT32_C(2654435761) >> (32 - HASH_BITS)];
    uint16_t distance = (uint16_t)(place - *latest);
    *latest = place;
    return distance;
}

/* Returns how many bytes from `bytes` on equal the bytes that lie `distance` before them; at most `most`. */
static size_t same_bytes(const unsigned char *bytes, size_t distance, size_t most)
{
    const unsigned char *before = bytes - distance;
    size_t length = 0;
    for (uint64_t here, there; length + WORD <= most; length += WORD) {
        __builtin_memcpy(&here, bytes + length, WORD);
        __builtin_memcpy(&there, before + length, WORD);
        if (here != there)
            return length + (size_t)__builtin_ctzll(le64toh(here ^ there)) / 8;
    }
    while (length < most && bytes[length] == before[length])
        length++;
    return length;
}

/* Packs bytes of any kind. The packed bytes of the stream so far lie directly before them in memory. Of
 * the places within a match only the last are stored: storing all takes longer than the few matches that they
 * add are worth. */
static void put_any(struct packer *packer, const unsigned char *bytes, size_t count)
{
    size_t done = 0;
    for (size_t at = 0; at + HASHED <= count; at++) {
        uint16_t distance = look_back(bytes + at, (uint16_t)(iolens_pack.next + at));
        bool reached = at >= done && distance > 0 && distance <= WINDOW && distance <= packer->packed + at;
        size_t most = count - at < LONGEST ? count - at : LONGEST;
        size_t length = reached ? same_bytes(bytes + at, distance, most) : 0;
        if (length < HASHED)
            continue;
        put_literals(packer, bytes + done, at - done);
        put(packer, iolens_pack.length[length]);
        put(packer, make_distance(distance));
        done = at + length;
        at += length > STORED ? length - STORED - 1 : 0;
    }
    put_literals(packer, bytes + done, count - done);
    iolens_pack.next = (uint16_t)(iolens_pack.next + count);
}

/* Reserves room in `out` for the codes of `count` bytes. Returns false without memory. */
static bool begin_codes(struct packer *packer, size_t count)
{
    packer->next = buffer_room(packer->out, count * LARGEST_LITERAL_BITS / 8 + MOST_OTHER);
    return packer->next != NULL;
}

static void end_codes(struct packer *packer)
{
    buffer_add(packer->out, (size_t)(packer->next - (unsigned char *)packer->out->data) - packer->out->used);
}

void pack_open(struct packer *packer, struct buffer *out, size_t row_bytes)
{
    /* Header of a zlib stream: window of 32 KiB, fastest level. */
    const unsigned char header[] = {0x78, 0x01};
    *packer = (struct packer){.out = out, .row_bytes = row_bytes, .checksum = 1};
    if (iolens_pack.literal[0].count == 0)
        make_codes();
    packer->distance = make_distance((uint32_t)row_bytes);
    buffer_put(out, header, sizeof header);
    packer->bits = 3; /* Header of a block: last block, fixed codes. */
    packer->bit_count = 3;
}

static void pack_pieces(struct packer *packer, const void *bytes, size_t count,
                        void (*encode)(struct packer *, const unsigned char *, size_t))
{
    const size_t piece = 1 << 20;
    for (size_t done = 0; done < count; done += piece) {
        const unsigned char *at = (const unsigned char *)bytes + done;
        size_t now = count - done < piece ? count - done : piece;
        if (!begin_codes(packer, now))
            return;
        encode(packer, at, now);
        end_codes(packer);
        packer->checksum = adler(packer->checksum, at, now);
        packer->packed += now;
    }
}

void pack(struct packer *packer, const void *bytes, size_t count)
{
    pack_pieces(packer, bytes, count, put_words);
}

bool pack_close(struct packer *packer)
{
    if (packer->out->failed || !begin_codes(packer, 0))
        return false;
    put(packer, symbol(256));
    for (; packer->bit_count > 0; packer->bit_count -= 8, packer->bits >>= 8)
        *packer->next++ = (unsigned char)packer->bits;
    for (int shift = 24; shift >= 0; shift -= 8)
        *packer->next++ = (unsigned char)(packer->checksum >> shift);
    end_codes(packer);
    return true;
}

bool pack_bytes(const struct buffer *bytes, struct buffer *out)
{
    struct packer packer;
    pack_open(&packer, out, WORD);
    pack_pieces(&packer, bytes->data, bytes->used, put_any);
    return pack_close(&packer);
}

enum { MANY_BYTES = 1 << 16 };

static bool are_many(size_t row_bytes, size_t bytes)
{
    return bytes >= MANY_BYTES && bytes % sizeof(uint64_t) == 0 && pack_takes(row_bytes);
}

void records_open(struct records *records, size_t row_bytes, size_t expected)
{
    records->row_bytes = row_bytes;
    records->packing = are_many(row_bytes, expected);
    records->bytes = (struct buffer){0};
    if (records->packing)
        pack_open(&records->packer, &records->bytes, row_bytes);
}

void records_put(struct records *records, const void *bytes, size_t count)
{
    if (records->packing)
        pack(&records->packer, bytes, count);
    else
        buffer_put(&records->bytes, bytes, count);
}

bool records_close(struct records *records, struct buffer *out)
{
    struct buffer *bytes = &records->bytes;
    if (records->packing) {
        bool complete = pack_close(&records->packer);
        *out = *bytes;
        return complete;
    }
    bool complete = !bytes->failed;
    if (complete && are_many(records->row_bytes, bytes->used)) {
        pack_open(&records->packer, out, records->row_bytes);
        pack(&records->packer, bytes->data, bytes->used);
        complete = pack_close(&records->packer);
    } else if (complete && bytes->used > 0) {
        complete = pack_bytes(bytes, out);
    }
    buffer_free(bytes);
    return complete;
}
