// A typical C++17 program: classes, an assembly, a pool, configuration, and a document that is edited at run time.
#include <invivo/invivo.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

struct sound {
    virtual ~sound() = default;
    virtual double level() const = 0;
};
class clock_source {
public:
    explicit clock_source(int rate) : rate(rate) {}
    int rate;
};
class voice : public sound {
public:
    voice(clock_source &clock, double gain) : gain(gain), clock(clock) {}
    double level() const override { return gain * clock.rate; }
    double gain;

private:
    clock_source &clock;
};

static void write(const std::string &path, double gain) {
    std::ofstream(path + "~") << "config: { synth: { rate: 10 } }\ntraits: { synth.lead: [Set: { gain: " << gain << " }] }\n";
    if (std::rename((path + "~").c_str(), path.c_str()) != 0) throw std::runtime_error("cannot write " + path);
}

int main() try {
    std::string path = "/tmp/invivo-consumer-XXXXXX";
    if (!mkdtemp(path.data())) throw std::runtime_error("no temporary directory");
    const std::string document = path + "/tuning.yaml";
    write(document, 2);

    invivo::runtime synth;
    invivo::name<sound>("Sound");
    invivo::type<clock_source>("Clock").constructor<int>({"rate"}).add(synth);
    invivo::type<voice>("Voice").is<sound>().constructor<clock_source &, double>({"clock", "gain"}).property<&voice::gain>("gain", {0, 8}).add(synth);

    invivo::assembly wiring("synth");
    wiring
        .define(invivo::definition("clock").of<clock_source>().lazy_singleton().give("rate", invivo::configured("rate").otherwise(1)))
        .define(invivo::definition("lead").of<voice>().lazy_singleton().at(INVIVO_HERE).with(invivo::by_type<clock_source>(), 1.0))
        .define(invivo::definition("voice").of<voice>().prototype().parameters<double>({"gain"}).with(
            invivo::from("clock"), invivo::argument(0)));
    synth.activate(wiring);
    synth.watch(document.c_str());

    auto voices = synth.pool<voice>("voices", [&](const invivo::value &note) { return synth.resolve<voice>("synth.voice", note.as<double>()); });
    invivo::ref<voice> third = voices.get(3);
    invivo::ref<sound> lead = synth.resolve<sound>("synth.lead");
    if (lead->level() != 20 || third->level() != 30 || voices.get(3) != third) throw std::runtime_error("the wiring is not as it was said");

    write(document, 4);
    for (int i = 0; i < 3000 && lead->level() != 40; i++) synth.poll(std::chrono::milliseconds(10));
    if (lead->level() != 40) throw std::runtime_error("the edit did not come");
    try {
        synth.resolve<sound>("synth.led");
        throw std::runtime_error("what is not there was resolved");
    } catch (const invivo::error &error) {
        if (error.code() != INVIVO_E_NOT_FOUND) throw;
    }
    third = {}, lead = {};
    synth.close();
    std::remove(document.c_str());
    std::remove(path.c_str());
    std::cout << "C++ program: ok\n";
    return EXIT_SUCCESS;
} catch (const std::exception &failed) {
    std::cerr << failed.what() << "\n";
    return EXIT_FAILURE;
}
